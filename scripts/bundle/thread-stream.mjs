// Stands for thread-stream, which pino loads for transports in threads. Our log is written at once, by the one thread.
export default class ThreadStream {
  constructor() {
    throw new Error('the log has no transports');
  }
}
