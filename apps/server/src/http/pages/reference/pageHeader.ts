import * as Html from "./Html.ts"

/** Returns the head of every page of the documentation, with the search and the ways to the other parts. */
export const pageHeader = (query: string, slug: string): string => `<header>
<p><a href="/docs">Waybill docs</a></p>
<form action="/docs/search" role="search">
<input id="search" type="search" name="q" aria-label="Search the documentation" placeholder="Search: a setting, an error, a command" autocomplete="off" value="${Html.escaped(query)}">
<button>Search</button>
</form>
<p class="ways"><a href="/docs/api"${slug === "api" ? ' aria-current="page"' : ""}>API reference</a> <a href="/">Dashboard</a></p>
</header>`
