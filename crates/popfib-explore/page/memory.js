/** Frees bytes that are done with, before a browser collects memory, in those that can. */
export const free = (bytes) => bytes.buffer.transfer?.(0);
