const whole = new Intl.NumberFormat(undefined, { style: "percent" })
const tenths = new Intl.NumberFormat(undefined, {
  style: "percent",
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
})
const hundredths = new Intl.NumberFormat(undefined, {
  style: "percent",
  minimumFractionDigits: 2,
  maximumFractionDigits: 2,
})
/** Complaints are a matter of tenths of a percent. */
const SMALL = 0.01
const [LEAST, MOST] = [0.0001, 0.999]

/** Returns a rate with one decimal, below 1 % with two. None and all have no decimal, and only they are 0% and 100%. */
export const formatPercent = (rate: number): string =>
  rate === 0 || rate === 1
    ? whole.format(rate)
    : rate < SMALL
      ? hundredths.format(Math.max(LEAST, rate))
      : tenths.format(Math.min(MOST, rate))
