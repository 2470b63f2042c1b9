// A file that is published again and again in, the newest table of it out. What happens when is as in other languages.

/** For so long nothing may have been written to a file that is overwritten in place before it is read again. */
const SETTLED = 1000;

/** What shows that a file at a path is another, or has other content; `null` if there is none. */
async function stateOf(path) {
  try {
    const { dev, ino, size, mtimeMs } = await process.getBuiltinModule("node:fs/promises").stat(path);
    return { file: `${dev}:${ino}`, size, mtimeMs };
  } catch {
    return null;
  }
}

export class Watcher {
  #path;
  #load;
  #options;
  #current;
  #seen;
  #told = "";
  #last = Promise.resolve();
  #timer;
  #isClosed = false;

  constructor(path, load, options) {
    this.#path = path;
    this.#load = load;
    this.#options = options;
  }

  async start() {
    await this.reload();
    this.#wait();
    return this;
  }

  get current() {
    return this.#current;
  }

  async reload() {
    await this.#turn(true);
    this.#told = "";
  }

  close() {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #wait() {
    if (!this.#isClosed) {
      // It keeps no process alive.
      this.#timer = setTimeout(() => this.#follow(), this.#options.interval ?? 1000).unref();
    }
  }

  /** One look after the other; whether there is a new table. */
  #turn(isAsked) {
    const turn = this.#last.then(() => this.#look(isAsked));
    this.#last = turn.catch(() => {});
    return turn;
  }

  async #look(isAsked) {
    const now = await stateOf(this.#path);
    const before = this.#seen;
    const isSame = now?.file === before?.file;
    const age = Date.now() - now?.mtimeMs;
    // Who puts a file in the place of another has finished it. A time in the future is that of another clock.
    const isUnfinished = isSame && age >= 0 && age < SETTLED;
    if (!isAsked && ((isSame && now?.size === before?.size && now?.mtimeMs === before?.mtimeMs) || isUnfinished)) {
      return false;
    }
    this.#seen = now;
    const table = await this.#load();
    if (!this.#isClosed || isAsked) {
      this.#current = table;
    }
    return true;
  }

  async #follow() {
    const { onReload, onError = (error) => process.emitWarning(`${error.message}; the table before is used`) } = this.#options;
    let isNew;
    let failure;
    try {
      isNew = await this.#turn(false);
    } catch (error) {
      failure = error;
    }
    this.#wait();
    if (this.#isClosed || !(isNew || failure)) {
      return;
    }
    const told = this.#told;
    this.#told = failure ? String(failure.message) : "";
    if (!failure) {
      onReload?.();
    } else if (this.#told !== told) {
      onError(failure);
    }
  }
}
