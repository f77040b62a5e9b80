/** Addresses of the service in samples: of the reference, and of documents unless a proxy beside the service asks there. */
const ADDRESS = /https:\/\/waybill\.example|(?<!ask )http:\/\/127\.0\.0\.1:3025/gu
/** Ports of this process, by the usual ones, which the samples have. */
export type Ports = ReadonlyMap<number, number>

/**
 * Script of a page: it writes the address of the service and its ports into the samples, copies them, and shows all of
 * them in the language that was chosen for one, which links carry on. Copies by the `copy` event, since a sandbox and a
 * page over plain HTTP have no clipboard.
 */
export const scriptOf = (ports: Ports = new Map()): string => `
(() => {
  const origin = location.protocol + "//" + location.host
  for (const code of document.querySelectorAll(".sample code")) {
    const texts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT)
    while (texts.nextNode()) texts.currentNode.data = texts.currentNode.data.replace(${ADDRESS}, origin)${[...ports].map(([usual, own]) => `.replace(/\\b${usual}\\b/gu, "${own}")`).join("")}
  }
  const status = document.getElementById("status")
  document.addEventListener("click", (event) => {
    const button = event.target.closest(".sample button")
    if (button === null) return
    const text = button.closest(".sample").querySelector("code").textContent
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
  const choose = (language) => {
    for (const tab of document.querySelectorAll(".tabs input")) if (tab.value === language) tab.checked = true
    for (const link of document.querySelectorAll('a[href^="/docs/api"]')) {
      const url = new URL(link.href)
      link.href = url.pathname + "?lang=" + language + url.hash
    }
  }
  document.addEventListener("change", (event) => {
    if (event.target.closest(".tabs") === null) return
    const top = event.target.getBoundingClientRect().top
    choose(event.target.value)
    scrollBy(0, event.target.getBoundingClientRect().top - top)
  })
  const chosen = new URLSearchParams(location.search).get("lang")
  if (chosen !== null && /^[a-z]+$/.test(chosen)) choose(chosen)
  const pages = document.querySelector("nav details")
  if (pages !== null && !matchMedia("(max-width: 48rem)").matches) {
    pages.open = true
    const list = pages.parentElement
    list.scrollTop = (list.querySelector("[aria-current]")?.offsetTop ?? 0) - list.clientHeight / 2
  }
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target.closest("input") !== null) return
    event.preventDefault()
    const search = document.getElementById("search")
    search.focus()
    search.select()
  })
})();
`
