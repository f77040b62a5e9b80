import { useEffect, useRef, useState } from "react"
import { useWidth } from "../../ui/layout/useWidth.ts"

const DESKTOP_PX = 640
const PHONE_PX = 390
const MIN_HEIGHT_PX = 160
const MAX_HEIGHT_PX = 544

interface Props {
  /** Accessible name of the frame. */
  readonly title: string
  readonly html: string
  readonly isPhone: boolean
  readonly isDark: boolean
  readonly hasImages: boolean
}

/**
 * Shows rendered HTML in a frame that runs no script. The frame has the dashboard's origin, so that its content is replaced
 * while its author reads it at some place; its sandbox and the policy of its page allow no script.
 */
export const PreviewFrame = ({ hasImages, html, isDark, isPhone, title }: Props) => {
  const frame = useRef<HTMLIFrameElement>(null)
  const [loads, setLoads] = useState(0)
  const [box, width] = useWidth()
  const [content, setContent] = useState({ width: 0, height: MAX_HEIGHT_PX })
  const wanted = isPhone ? Math.min(PHONE_PX, width || PHONE_PX) : Math.max(DESKTOP_PX, width)
  useEffect(() => {
    if (loads > 0 && frame.current !== null) show(frame.current, html, isDark)
  }, [html, isDark, loads])
  useEffect(() => {
    const element = frame.current
    const root = element?.contentDocument?.documentElement
    if (loads === 0 || element === null || root === undefined) return undefined
    // Its height changes as images load, and with its width.
    const observer = new ResizeObserver(() => {
      const shown = element.style.width
      element.style.width = `${wanted}px`
      const { scrollWidth } = root
      element.style.width = shown
      setContent({ width: scrollWidth, height: root.getBoundingClientRect().height })
    })
    observer.observe(root)
    return () => observer.disconnect()
  }, [html, isDark, loads, wanted])
  // A mail that is laid out for more is made smaller, as phones do, rather than cut.
  const whole = Math.max(wanted, content.width)
  const scale = width === 0 ? 1 : Math.min(1, (isPhone ? wanted : width) / whole)
  const height = Math.min(MAX_HEIGHT_PX, Math.max(MIN_HEIGHT_PX, Math.ceil(content.height * scale)))
  return (
    <div ref={box} className="flex justify-center overflow-hidden bg-sunken" style={{ height }}>
      <iframe
        ref={frame}
        key={String(hasImages)}
        title={title}
        src={`/preview/template${hasImages ? "?images=1" : ""}`}
        sandbox="allow-same-origin allow-popups allow-popups-to-escape-sandbox"
        onLoad={() => setLoads((count) => count + 1)}
        className="shrink-0 origin-top border-0 bg-white"
        style={{ width: whole, height: height / scale, transform: `scale(${scale})` }}
      />
    </div>
  )
}

/** Replaces the content of the frame. It is parsed there, so that the policy of its page holds. */
const show = (frame: HTMLIFrameElement, html: string, isDark: boolean): void => {
  const page = frame.contentDocument
  const view = frame.contentWindow
  // A frame that is not loaded yet is a blank page with the dashboard's policy, which allows no style of a mail.
  if (page === null || view === null || page.URL === "about:blank") return
  const { scrollX, scrollY } = view
  const root = page.documentElement
  const holder = page.createElement("div")
  holder.innerHTML = `<div${HTML_TAG.exec(html)?.[1] ?? ""}></div>`
  for (const name of root.getAttributeNames()) root.removeAttribute(name)
  for (const { name, value } of holder.firstElementChild?.attributes ?? []) root.setAttribute(name, value)
  root.innerHTML = `<base target="_blank">${html}`
  root.style.colorScheme = isDark ? "dark" : "light"
  frame.style.backgroundColor = isDark ? "#121212" : ""
  // The policy blocks the sheets of links, whose rules nobody may read.
  for (const sheet of page.styleSheets) if (sheet.href === null) chooseScheme(sheet.cssRules, isDark)
  view.scrollTo(scrollX, scrollY)
}

/** The tag of the whole, whose attributes the parser of its content leaves out. */
const HTML_TAG = /<html(\s[^>]{0,2000})>/iu

const SCHEME = /\(\s*prefers-color-scheme\s*:\s*(dark|light)\s*\)/giu

/** Lets the rules of a color scheme hold, whatever that of this browser is. */
const chooseScheme = (rules: CSSRuleList, isDark: boolean): void => {
  for (const rule of rules) {
    if (!isMediaRule(rule)) continue
    rule.media.mediaText = rule.media.mediaText.replaceAll(SCHEME, (_, scheme: string) =>
      (scheme.toLowerCase() === "dark") === isDark ? "(min-width: 0px)" : "(max-width: 0px)",
    )
    chooseScheme(rule.cssRules, isDark)
  }
}

/** The rules are of another window, whose classes are others. */
const isMediaRule = (rule: CSSRule): rule is CSSMediaRule => "media" in rule && "cssRules" in rule
