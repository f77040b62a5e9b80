import * as Clients from "./Clients.ts"
import * as Html from "./Html.ts"
import { scriptOf } from "./scriptOf.ts"
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
}

/** Returns a page of the documentation, whole without its script and without other files. */
export const pageShell = ({
  content,
  isReference = false,
  navigation,
  query = "",
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
<header>
<p><a href="/docs">Waybill docs</a></p>
<form action="/docs/search" role="search">
<input id="search" type="search" name="q" aria-label="Search the documentation" placeholder="Search: an endpoint, an error, a setting" autocomplete="off" value="${Html.escaped(query)}">
<button>Search</button>
<div id="suggestions" role="listbox" aria-label="Results" hidden></div>
</form>
<p class="ways"><a href="/docs/api"${isReference ? ' aria-current="page"' : ""}>API reference</a> <a href="/">Dashboard</a></p>
</header>
<div class="page">
<nav aria-label="Pages"><details><summary>Pages</summary>
${navigation}
</details></nav>
<main id="content" tabindex="-1">
${content}
</main>
</div>
<p id="status" role="status" class="said"></p>
<script>${scriptOf(Clients.ORIGIN)}${SuggestScript.SCRIPT}</script>
</body>
</html>
`
