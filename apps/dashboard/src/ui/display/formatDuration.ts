const seconds = new Intl.NumberFormat("en", { maximumFractionDigits: 1 })

/** Writes how long something took: "812 ms", "27.8 s". */
export const formatDuration = (ms: number): string => (ms < 1_000 ? `${ms} ms` : `${seconds.format(ms / 1_000)} s`)
