// Rates of recipients by their current status. Without an import that runs, because browsers load it too.

type Counts<S extends string> = { readonly [Each in S]: number }

/** Recipients that the mail reached; a complaint comes from one of them. */
export const reached = ({ complained, delivered }: Counts<"complained" | "delivered">): number => delivered + complained

/** Recipients with an outcome of the delivery, which rates are shares of. */
export const ended = (counts: Counts<"bounced" | "complained" | "delivered" | "failed">): number =>
  reached(counts) + counts.bounced + counts.failed

export const rate = (part: number, whole: number): number => (whole === 0 ? 0 : part / whole)

const formatOf = (digits: number) =>
  new Intl.NumberFormat("en", { style: "percent", minimumFractionDigits: digits, maximumFractionDigits: digits })
const [whole, tenths, hundredths] = [formatOf(0), formatOf(1), formatOf(2)]
/** Complaints are a matter of tenths of a percent. */
const SMALL = 0.01
const [LEAST, MOST] = [0.0001, 0.999]

/** Returns a rate with one decimal, below 1 % with two. None and all have no decimal, and only they are 0% and 100%. */
export const percent = (rate: number): string => {
  if (rate === 0 || rate === 1) return whole.format(rate)
  return rate < SMALL ? hundredths.format(Math.max(LEAST, rate)) : tenths.format(Math.min(MOST, rate))
}
