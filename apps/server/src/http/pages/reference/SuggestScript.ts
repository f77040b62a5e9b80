/** Wait after a key before a search, and the fewest characters that are searched for. */
const [DEBOUNCE_MS, MIN_CHARS] = [150, 2]

/**
 * Shows the first results of the search while the reader types, as a combobox with a list of links, or that there are
 * none, above near pages. Enter without a chosen link submits the form, as it does without the script and when a search
 * fails or is refused.
 */
export const SCRIPT = `
(() => {
  const input = document.getElementById("search")
  const list = document.getElementById("suggestions")
  const note = document.getElementById("note")
  const status = document.getElementById("status")
  const say = { role: "combobox", "aria-autocomplete": "list", "aria-controls": list.id, "aria-expanded": "false" }
  for (const [name, value] of Object.entries(say)) input.setAttribute(name, value)
  let timer, asked
  let chosen = -1
  const choose = (at) => {
    chosen = at
    for (const [nth, link] of [...list.children].entries()) link.setAttribute("aria-selected", String(nth === at))
    const link = list.children[at]
    if (link === undefined) return input.removeAttribute("aria-activedescendant")
    input.setAttribute("aria-activedescendant", link.id)
    link.scrollIntoView({ block: "nearest" })
  }
  const show = (places, said = "") => {
    note.textContent = said
    note.hidden = said === ""
    list.replaceChildren(...places.map(({ about, title, url }, nth) => {
      const link = document.createElement("a")
      const small = document.createElement("small")
      small.textContent = about
      link.append(title, " ", small)
      link.href = url
      link.id = "suggestion-" + nth
      link.tabIndex = -1
      link.setAttribute("role", "option")
      return link
    }))
    const isOpen = places.length > 0
    list.parentElement.hidden = !isOpen
    input.setAttribute("aria-expanded", String(isOpen))
    choose(-1)
  }
  const close = () => {
    clearTimeout(timer)
    asked?.abort()
    show([])
  }
  const search = async () => {
    const { signal } = asked = new AbortController()
    const query = input.value.trim()
    if (query.length < ${MIN_CHARS}) return close()
    try {
      const response = await fetch("/docs/search.json?q=" + encodeURIComponent(query), { credentials: "omit", signal })
      if (!response.ok) return show([])
      const { count, note: said, places } = await response.json()
      if (signal.aborted) return
      show(places, said)
      status.textContent = count === 0 ? said : count + " results"
    } catch {
      if (!signal.aborted) show([])
    }
  }
  input.addEventListener("input", () => {
    clearTimeout(timer)
    asked?.abort()
    timer = setTimeout(search, ${DEBOUNCE_MS})
  })
  input.addEventListener("keydown", (event) => {
    const count = list.children.length
    if (event.key === "Enter" && chosen >= 0) list.children[chosen].click()
    else if (event.key === "Escape" && count > 0) close()
    else if (event.key === "ArrowDown" && count > 0) choose(chosen + 1 < count ? chosen + 1 : -1)
    else if (event.key === "ArrowUp" && count > 0) choose(chosen < 0 ? count - 1 : chosen - 1)
    else return
    event.preventDefault()
  })
  list.addEventListener("mousedown", (event) => event.preventDefault())
  list.addEventListener("click", close)
  input.addEventListener("blur", close)
})();
`
