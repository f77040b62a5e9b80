// Sets the theme before the first paint, so that a dark page does not flash white.
;(() => {
  let chosen = null
  try {
    chosen = localStorage.getItem("waybill.theme")
  } catch {
    // Without storage the theme of the system is used.
  }
  const dark = chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches)
  document.documentElement.classList.toggle("dark", dark)
})()
