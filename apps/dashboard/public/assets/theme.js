// Before anything is painted, so that no dark room is lit up by a white page.
;(() => {
  let chosen = null
  try {
    chosen = localStorage.getItem("waybill.theme")
  } catch {
    // Storage is switched off: the system decides.
  }
  const dark = chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches)
  document.documentElement.classList.toggle("dark", dark)
})()
