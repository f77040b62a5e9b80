import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Locator, Page } from "playwright-core"
import * as Browser from "./Browser.ts"

/** Folder for pictures of every screen. Unset by default, so that a test run writes no file. */
const FOLDER = process.env["WAYBILL_CONTACT_SHEET"]

export const PHONE = { width: 390, height: 844 }
const SIZES = { desktop: Browser.DESKTOP, phone: PHONE }
const THEMES = ["light", "dark"] as const

/**
 * Takes a picture of the page as it is, in each size and theme, if `WAYBILL_CONTACT_SHEET` is set. The page is scrolled
 * so that `top` stands at its top, if it is given.
 */
export const shoot = async (page: Page, name: string, top?: Locator): Promise<void> => {
  if (FOLDER === undefined) return
  mkdirSync(FOLDER, { recursive: true })
  const before = page.viewportSize()
  for (const [size, viewport] of Object.entries(SIZES)) {
    await page.setViewportSize(viewport)
    for (const theme of THEMES) {
      await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" })
      // Charts are drawn anew in the frames after a change.
      await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
      await top?.evaluate((element) => element.scrollIntoView())
      await page.screenshot({ path: join(FOLDER, `${name}--${size}-${theme}.png`) })
    }
  }
  if (before !== null) await page.setViewportSize(before)
  await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" })
}

const figure = (file: string): string => {
  const source = `data:image/png;base64,${readFileSync(join(FOLDER ?? "", file)).toString("base64")}`
  return `<figure><img src="${source}" alt=""><figcaption>${file.replace(/\.png$/u, "")}</figcaption></figure>`
}

/** Writes one page with all pictures of the folder, also those of other test files. */
export const write = (): void => {
  if (FOLDER === undefined) return
  const files = readdirSync(FOLDER).filter((name) => name.endsWith(".png"))
  const rows = Object.values(Object.groupBy(files.toSorted(), (name) => name.split("--")[0] ?? name))
  const html = rows.map((row = []) => `<section>${row.map(figure).join("")}</section>`).join("\n")
  writeFileSync(
    join(FOLDER, "contact-sheet.html"),
    `<!doctype html><meta charset="utf-8"><title>Screens</title>
<style>body { background: #777; font: 12px system-ui } section { display: flex; gap: 12px; margin: 12px; align-items: start }
figure { margin: 0 } img { display: block; height: 460px } figcaption { color: #fff; padding: 4px 0 }</style>
${html}
`,
  )
}
