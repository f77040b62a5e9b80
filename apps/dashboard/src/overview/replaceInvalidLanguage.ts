/** uPlot uses `navigator.language` as a locale when it loads, and fails if that is not one, such as en-US@posix. */
try {
  Intl.getCanonicalLocales(navigator.language)
} catch {
  Object.defineProperty(navigator, "language", { value: "en", configurable: true })
}
