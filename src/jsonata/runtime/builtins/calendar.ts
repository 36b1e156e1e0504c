// Components of a time in UTC, by the letters of pictures. Weeks are those of ISO 8601: they begin on Mondays, and the
// first week of a year, or of a month, is the one with its first Thursday.

const DAY = 24 * 60 * 60 * 1000;
const WEEK = 7 * DAY;

/** Names of the days of a week; Monday is 1. */
export const DAYS = ["", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/** Names of the months; January is 1. */
export const MONTHS = [
  "",
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];

/** The day of the week; Monday is 1. */
const weekday = (date: Date): number => date.getUTCDay() || 7;

/** A year, or a month, that has weeks of its own: its first month and year. */
interface Period {
  readonly year: number;
  readonly month: number;
}

const yearOf = (date: Date): Period => ({ year: date.getUTCFullYear(), month: 0 });

const monthOf = (date: Date): Period => ({ year: date.getUTCFullYear(), month: date.getUTCMonth() });

const shiftYear = ({ year, month }: Period, by: number): Period => ({ year: year + by, month });

/** Not left to `Date.UTC`, which takes the years 0 to 99 for those of the twentieth century. */
function shiftMonth({ year, month }: Period, by: number): Period {
  const shifted = month + by;
  if (shifted < 0) return { year: year - 1, month: 11 };
  return shifted > 11 ? { year: year + 1, month: 0 } : { year, month: shifted };
}

/** The time at which the first week of a period begins. */
function firstWeek({ year, month }: Period): number {
  const first = Date.UTC(year, month);
  const day = weekday(new Date(first));
  return day > 4 ? first + (8 - day) * DAY : first - (day - 1) * DAY;
}

type Shift = (period: Period, by: number) => Period;

/** The number of the week in its year or month. Days around the turn may belong to a week of the next or previous one. */
function weekIn(date: Date, period: Period, shift: Shift, fullWeeks: number): number {
  const today = Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate());
  const week = (today - firstWeek(period)) / WEEK + 1;
  if (week > fullWeeks && today >= firstWeek(shift(period, 1))) return 1;
  return Math.floor(week < 1 ? (today - firstWeek(shift(period, -1))) / WEEK + 1 : week);
}

/** The year or month to which the week belongs. */
function periodOfWeek(date: Date, period: Period, shift: Shift): Period {
  const now = date.getTime();
  if (now < firstWeek(period)) return shift(period, -1);
  return now >= firstWeek(shift(period, 1)) ? shift(period, 1) : period;
}

function dayOfYear(date: Date): number {
  const year = date.getUTCFullYear();
  return (Date.UTC(year, date.getUTCMonth(), date.getUTCDate()) - Date.UTC(year, 0)) / DAY + 1;
}

/** The components of a time that are numbers, by letter. */
export const TIME_NUMBERS: Readonly<Record<string, (date: Date) => number>> = {
  Y: (date) => date.getUTCFullYear(),
  M: (date) => date.getUTCMonth() + 1,
  D: (date) => date.getUTCDate(),
  d: dayOfYear,
  F: weekday,
  W: (date) => weekIn(date, yearOf(date), shiftYear, 52),
  w: (date) => weekIn(date, monthOf(date), shiftMonth, 4),
  X: (date) => periodOfWeek(date, yearOf(date), shiftYear).year,
  x: (date) => periodOfWeek(date, monthOf(date), shiftMonth).month + 1,
  H: (date) => date.getUTCHours(),
  h: (date) => date.getUTCHours() % 12 || 12,
  m: (date) => date.getUTCMinutes(),
  s: (date) => date.getUTCSeconds(),
  f: (date) => date.getUTCMilliseconds(),
};
