// HTTP-date in its three forms, RFC 9110, section 5.6.7.
const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const TIME = "(?<hour>\\d\\d):(?<minute>\\d\\d):(?<second>\\d\\d)";
const FORMS = [
  `(?<weekday>\\w{3}), (?<day>\\d\\d) (?<month>\\w{3}) (?<year>\\d{4}) ${TIME} GMT`,
  `(?<weekday>\\w{6,9}), (?<day>\\d\\d)-(?<month>\\w{3})-(?<year>\\d\\d) ${TIME} GMT`,
  `(?<weekday>\\w{3}) (?<month>\\w{3}) (?<day>[ \\d]\\d) ${TIME} (?<year>\\d{4})`,
].map((form) => new RegExp(`^${form}$`));

// Seconds since 1970; undefined for a text that is no date. `now` decides the century.
export function parseDate(text, now) {
  const fields = FORMS.map((form) => form.exec(text.trim())?.groups).find((groups) => groups !== undefined);
  if (!fields) return undefined;
  const [day, hour, minute, second] = ["day", "hour", "minute", "second"].map((name) => Number(fields[name]));
  const year = fields.year.length === 2 ? fullYear(Number(fields.year), now) : Number(fields.year);
  const date = new Date(Date.UTC(year, MONTHS.indexOf(fields.month), day, hour, minute, second));
  const weekday = DAYS[date.getUTCDay()];
  const isReal = date.getUTCDate() === day && date.getUTCHours() === hour && date.getUTCMinutes() === minute;
  return isReal && [weekday, weekday.slice(0, 3)].includes(fields.weekday) ? date.getTime() / 1000 : undefined;
}

function fullYear(twoDigits, now) {
  const current = new Date(now * 1000).getUTCFullYear();
  const year = current - (current % 100) + twoDigits;
  if (year > current + 50) return year - 100;
  return year + 50 <= current ? year + 100 : year;
}
