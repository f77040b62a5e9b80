/**
 * Script of the reference: it writes the address of the service into the samples, copies them, and filters the list of
 * endpoints. Copies by the `copy` event, since a sandbox and a page over plain HTTP have no clipboard.
 */
export const scriptOf = (placeholder: string): string => `
(() => {
  const origin = location.protocol + "//" + location.host
  for (const code of document.querySelectorAll(".sample code"))
    code.textContent = code.textContent.replace(${JSON.stringify(placeholder)}, origin)
  const status = document.getElementById("status")
  document.addEventListener("click", (event) => {
    const button = event.target.closest(".sample button")
    if (button === null) return
    const text = button.parentElement.querySelector("code").textContent
    const copy = (event) => {
      event.clipboardData.setData("text/plain", text)
      event.preventDefault()
    }
    document.addEventListener("copy", copy)
    const isCopied = document.execCommand("copy")
    document.removeEventListener("copy", copy)
    button.textContent = isCopied ? "Copied" : "Select and copy"
    status.textContent = button.textContent
    setTimeout(() => { button.textContent = "Copy" }, 2000)
  })
  const field = document.getElementById("filter")
  const filter = () => {
    const words = field.value.toLowerCase().split(/\\s+/).filter((word) => word !== "")
    let found = 0
    for (const group of document.querySelectorAll("nav section")) {
      let shown = 0
      for (const item of group.querySelectorAll("li")) {
        item.hidden = !words.every((word) => item.dataset.words.includes(word))
        if (!item.hidden) shown++
      }
      group.hidden = shown === 0
      found += shown
    }
    status.textContent = words.length === 0 ? "" : found === 1 ? "1 endpoint" : found + " endpoints"
  }
  if (field !== null) {
    field.addEventListener("input", filter)
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return
      const first = document.querySelector("nav section:not([hidden]) li:not([hidden]) a")
      if (first !== null) first.click()
    })
  }
  const pages = document.querySelector("nav details")
  if (pages !== null && !matchMedia("(max-width: 48rem)").matches) pages.open = true
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target.closest("input") !== null) return
    event.preventDefault()
    const first = field ?? document.getElementById("search")
    first.focus()
  })
})()
`
