/**
 * The three quantities of time that are easily confused, each with a brand of its own.
 * All are seconds: only the line that calls a Node timer knows milliseconds.
 */
declare const unit: unique symbol;

/** A length of time in seconds. */
export type Seconds = number & { readonly [unit]: 'seconds' };
/** An instant of the monotonic clock, in seconds since an arbitrary origin that is fixed for the process. */
export type MonotonicInstant = number & { readonly [unit]: 'monotonic-instant' };
/** An instant of the wall clock, in seconds since 1970. Only for labels and records, never for measuring. */
export type UnixTime = number & { readonly [unit]: 'unix-time' };

export const seconds = (value: number): Seconds => value as Seconds;
export const monotonicInstant = (value: number): MonotonicInstant => value as MonotonicInstant;
export const unixTime = (value: number): UnixTime => value as UnixTime;

/** Seconds from `from` to `to`; negative when `to` came first. */
export const elapsed = (from: MonotonicInstant, to: MonotonicInstant): Seconds => (to - from) as Seconds;

/** The instant `delay` after `from`. */
export const after = (from: MonotonicInstant, delay: Seconds): MonotonicInstant => (from + delay) as MonotonicInstant;
