import axe from "axe-core"
import type { BrowserContext, Page } from "playwright-core"

interface Violation {
  readonly id: string
  readonly impact: string
  readonly nodes: ReadonlyArray<{ readonly html: string; readonly failureSummary: string }>
}

/** Options of axe: in the dark theme only colors differ, so only contrast is checked. */
const RULES = { light: "", dark: `, runOnly: { type: "rule", values: ["color-contrast"] }` }

/** Adds the checker to every page that is opened from now on. */
export const install = (context: BrowserContext): Promise<unknown> => context.addInitScript(axe.source)

/** Returns serious violations of accessibility rules in a theme. */
export const violations = async (page: Page, theme: keyof typeof RULES): Promise<ReadonlyArray<string>> => {
  await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" })
  // The color scheme changes with the next frame, which an idle page does not draw by itself.
  await page.evaluate("new Promise(requestAnimationFrame)")
  // Pages outside the dashboard have no class for the theme.
  await page.locator(theme === "dark" ? "html.dark, html:not(:has(#root))" : "html:not(.dark)").waitFor()
  const options = `{ resultTypes: ["violations"], iframes: false${RULES[theme]} }`
  const run = `axe.run(document, ${options}).then(({ violations }) => violations)`
  const violated = (await page.evaluate(run)) as ReadonlyArray<Violation>
  return violated
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map(({ failureSummary, html }) => `${id}: ${html}\n${failureSummary}`))
}
