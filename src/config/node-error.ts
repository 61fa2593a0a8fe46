/** An error of Node's own, which carries a code such as ENOENT. */
export const isNodeError = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && 'code' in error;
