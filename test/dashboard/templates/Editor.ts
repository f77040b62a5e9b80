import type { FrameLocator, Locator, Page } from "playwright-core"
import * as Browser from "../support/Browser.ts"

export const frameElement = (page: Page): Locator => page.locator('iframe[title="Template preview"]')
/** What the preview shows. */
export const frame = (page: Page): FrameLocator => page.frameLocator('iframe[title="Template preview"]')

const contentOf = (page: Page, label: string): Locator => page.locator(`[data-editor="${label}"] .cm-content`)

/** Replaces a text of an editor by typing. */
export const retype = async (page: Page, label: string, text: string): Promise<void> => {
  const content = contentOf(page, label)
  await content.click()
  await page.keyboard.press("ControlOrMeta+a")
  await page.keyboard.press("Delete")
  // Inserted as a whole: the editor would close brackets and indent lines.
  if (text !== "") await page.keyboard.insertText(text)
}

export const textOf = async (page: Page, label: string): Promise<string> => {
  const lines = await contentOf(page, label).locator(".cm-line").allTextContents()
  return lines.join("\n")
}

const WIDTHS = [390, 1280, 1920]

/** Names of elements that stand over others, or beyond the page. */
const OVERLAPS = `(() => {
  const shown = [...document.querySelectorAll("main :is(button, input, select, textarea, h1, h2, [data-editor], iframe)")]
    .filter((element) => element.checkVisibility() && element.getBoundingClientRect().width > 1)
  const nameOf = (element) => element.getAttribute("aria-label") ?? element.getAttribute("data-editor") ?? element.textContent.slice(0, 30)
  const boxes = shown.map((element) => [element, element.getBoundingClientRect()])
  const found = []
  for (const [one, a] of boxes) {
    if (a.right > document.documentElement.clientWidth + 1 && one.closest(".overflow-x-auto, .overflow-hidden") === null) found.push("beyond: " + nameOf(one))
    for (const [other, b] of boxes) {
      if (one === other || one.contains(other) || other.contains(one)) continue
      const width = Math.min(a.right, b.right) - Math.max(a.left, b.left)
      const height = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top)
      if (width > 2 && height > 2) found.push(nameOf(one) + " over " + nameOf(other))
    }
  }
  return found
})()`

/** Nothing overlaps, and the page does not scroll sideways, on a phone, a laptop and a large screen. */
export const assertNoOverflow = async (page: Page): Promise<void> => {
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 })
    await Browser.eventually(() => page.evaluate("document.documentElement.scrollWidth"), `${width} px`).toBe(width)
    // The preview follows the width by an observer of its own, a moment later.
    await Browser.eventually(() => page.evaluate(OVERLAPS), `${width} px`).toEqual([])
  }
  await page.setViewportSize(Browser.DESKTOP)
}
