import axe from "axe-core"
import type { Page } from "playwright-core"

interface Violation {
  readonly id: string
  readonly impact: string
  readonly nodes: ReadonlyArray<{ readonly html: string; readonly failureSummary: string }>
}

/**
 * Options of axe for each look of a page. In the dark theme only colors differ, so only contrast is checked; on a phone
 * the layout does, so all but contrast is.
 */
const RULES = {
  light: "",
  dark: `, runOnly: { type: "rule", values: ["color-contrast"] }`,
  phone: `, rules: { "color-contrast": { enabled: false } }`,
}
const PHONE = { width: 390, height: 844 }

/** Returns the serious violations of accessibility rules of a page: in both themes, and on a phone. */
export const violations = async (page: Page): Promise<ReadonlyArray<string>> => {
  const viewport = page.viewportSize()
  const all: Array<string> = []
  for (const look of ["dark", "light", "phone"] as const)
    all.push(...(await violationsIn(page, look)).map((each) => `${look}: ${each}`))
  if (viewport !== null) await page.setViewportSize(viewport)
  return all
}

const violationsIn = async (page: Page, look: keyof typeof RULES): Promise<ReadonlyArray<string>> => {
  if (look === "phone") await page.setViewportSize(PHONE)
  const theme = look === "dark" ? "dark" : "light"
  await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" })
  // The color scheme changes with the next frame, which an idle page does not draw by itself.
  await page.evaluate("new Promise(requestAnimationFrame)")
  // Pages outside the dashboard have no class for the theme.
  await page.locator(theme === "dark" ? "html.dark, html:not(:has(#root))" : "html:not(.dark)").waitFor()
  // Only here: as a script of each document and frame, half a megabyte would be compiled for pages that nobody checks.
  if (!(await page.evaluate("typeof axe === 'object'"))) await page.evaluate(`${axe.source}; undefined`)
  const options = `{ resultTypes: ["violations"], iframes: false${RULES[look]} }`
  const run = `axe.run(document, ${options}).then(({ violations }) => violations)`
  const violated = (await page.evaluate(run)) as ReadonlyArray<Violation>
  return violated
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map(({ failureSummary, html }) => `${id}: ${html}\n${failureSummary}`))
}
