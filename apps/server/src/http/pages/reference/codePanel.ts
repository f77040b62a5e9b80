import * as Table from "@waybill/domain/values/Table"
import * as Highlight from "./Highlight.ts"
import * as Html from "./Html.ts"

/** How the languages of code are named for people. */
const NAMES: Readonly<Record<string, string>> = {
  go: "Go",
  html: "HTML",
  ini: "Settings",
  conf: "Settings",
  js: "JavaScript",
  json: "JSON",
  jsonl: "JSON Lines",
  mjs: "JavaScript",
  php: "PHP",
  python: "Python",
  ruby: "Ruby",
  sh: "Shell",
  text: "Text",
  toml: "TOML",
  ts: "TypeScript",
  tsx: "TypeScript",
  yaml: "YAML",
}

interface Code {
  readonly code: string
  readonly language: string
  /** The line above it; the language if left out. */
  readonly title?: string
  /** Name of the panel among others, for readers of the screen. */
  readonly label?: string
}

/** Returns a panel of highlighted code with a button that copies it. */
export const codePanel = ({ code, label, language, title = Table.at(NAMES, language) ?? language }: Code): string => {
  const region = label === undefined ? "" : ` role="region" aria-label="${Html.escaped(label)}"`
  const copies = label === undefined ? "" : ` aria-label="Copy sample ${Html.escaped(label)}"`
  return `<div class="sample"><div class="bar"><span>${title}</span><button type="button"${copies}>Copy</button></div><pre tabindex="0"${region}><code>${Highlight.of(code, language)}</code></pre></div>`
}
