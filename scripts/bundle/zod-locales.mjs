// Stands for zod's messages in fifty languages; ours are written in src/config/zod-issues.ts.
export { default as en } from '../../node_modules/zod/v4/locales/en.js';
