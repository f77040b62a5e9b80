import * as Html from "./Html.ts"
import { type Ports, scriptOf } from "./scriptOf.ts"
import * as Style from "./Style.ts"
import * as SuggestScript from "./SuggestScript.ts"

export interface PageParts {
  readonly title: string
  /** The list of pages beside the content. */
  readonly navigation: string
  readonly content: string
  /** Words that were searched for. */
  readonly query?: string
  readonly isReference?: boolean
  readonly ports?: Ports
}

/** Logo of the dashboard (apps/dashboard/src/ui/display/Logo.tsx). */
const LOGO = `<svg width="22" height="22" viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8" class="solid"/><path d="M7 10.5 11.2 21 16 11l4.8 10L25 10.5" fill="none" class="mark" stroke-width="2.6" stroke-linecap="round" stroke-linejoin="round"/><path d="M9 25.5h14" class="stamp" stroke-width="2.4" stroke-linecap="round"/></svg>`
const MAGNIFIER = `<svg width="16" height="16" viewBox="0 0 16 16" fill="none" stroke="currentcolor" stroke-width="1.5" stroke-linecap="round" aria-hidden="true"><circle cx="7" cy="7" r="4.5"/><path d="m10.5 10.5 3 3"/></svg>`
/** Marks the part of the documentation that a page belongs to. */
const CURRENT = ` aria-current="true"`

/** Returns a page of the documentation, whole without its script and without other files. */
export const pageShell = ({
  content,
  isReference = false,
  navigation,
  query = "",
  ports,
  title,
}: PageParts): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${Html.escaped(title)} · Waybill docs</title>
<style>${Style.CSS}${isReference ? Style.REFERENCE_CSS : Style.SITE_CSS}</style>
</head>
<body>
<a class="skip" href="#content">Skip to the page</a>
<header><div>
<a class="brand" href="/docs">${LOGO}<span>Waybill</span> <small>Docs</small></a>
<form action="/docs/search" role="search">
<input id="search" type="search" name="q" aria-label="Search the documentation" placeholder="Search the docs" autocomplete="off" value="${Html.escaped(query)}">
<button aria-label="Search">${MAGNIFIER}</button><kbd aria-hidden="true">/</kbd>
<div id="results" hidden><p id="note" hidden></p><div id="suggestions" role="listbox" aria-label="Results"></div></div>
</form>
<p class="ways"><a href="/docs"${isReference ? "" : CURRENT}>Guides</a><a href="/docs/api"${isReference ? CURRENT : ""}>API reference</a><a href="/">Dashboard</a></p>
</div></header>
<div class="page">
<nav aria-label="Pages"><details><summary>Pages</summary>
${navigation}
</details></nav>
<main id="content" tabindex="-1">
${content}
</main>
</div>
<p id="status" role="status" class="said"></p>
<script>${scriptOf(ports)}${SuggestScript.SCRIPT}</script>
</body>
</html>
`
