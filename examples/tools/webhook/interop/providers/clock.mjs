// Time for libraries that read the clock themselves.

const RealDate = Date;

/** Runs `work` with a clock that stands at `seconds` after 1970. */
export async function at(seconds, work) {
  const milliseconds = seconds * 1000;
  globalThis.Date = class Date extends RealDate {
    constructor(...parts) {
      super(...(parts.length > 0 ? parts : [milliseconds]));
    }
    static now() {
      return milliseconds;
    }
  };
  try {
    return await work();
  } finally {
    globalThis.Date = RealDate;
  }
}
