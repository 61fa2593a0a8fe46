// Stands for the table of two thousand media types that express looks file endings up in; these are what is served.
export default {
  'application/json': { source: 'iana', charset: 'UTF-8', compressible: true, extensions: ['json'] },
  'image/svg+xml': { source: 'iana', compressible: true, extensions: ['svg'] },
  'text/css': { source: 'iana', charset: 'UTF-8', compressible: true, extensions: ['css'] },
  'text/html': { source: 'iana', compressible: true, extensions: ['html'] },
  'text/javascript': { source: 'iana', charset: 'UTF-8', compressible: true, extensions: ['js'] },
  'text/plain': { source: 'iana', compressible: true, extensions: ['txt'] },
};
