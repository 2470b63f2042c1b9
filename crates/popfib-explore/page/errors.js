// What a file that cannot be read is refused with: one line for the user.

export class FileError extends Error {}
