/** Word on the command line by which the program knows that it is a worker of its own load run (load-thread.ts). */
export const WORKER_COMMAND = 'load-worker';
