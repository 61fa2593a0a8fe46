// Stands for qs and the packages below it, which express loads for its "extended" query parser. Ours is the simple one,
// Node's own.
export { parse } from 'node:querystring';
