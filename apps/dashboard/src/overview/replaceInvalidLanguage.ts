/** Replaces a language that is no locale, such as en-US@posix: uPlot reads `navigator.language` when it loads, and fails. */
try {
  Intl.getCanonicalLocales(navigator.language)
} catch {
  Object.defineProperty(navigator, "language", { value: "en", configurable: true })
}
