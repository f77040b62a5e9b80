const UNITS = ["B", "KB", "MB", "GB", "TB"]
const KILO = 1_024
const number = new Intl.NumberFormat("en", { maximumFractionDigits: 1, useGrouping: false })

/** Returns a size in the largest unit of which there is one: "168 B", "1.5 KB", "50 GB". */
export const formatBytes = (bytes: number): string => {
  const power = bytes < KILO ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10))
  return `${number.format(bytes / KILO ** power)} ${UNITS[power]}`
}
