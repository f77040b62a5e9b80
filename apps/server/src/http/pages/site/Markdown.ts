import { valueOr } from "@waybill/runtime/flow/valueOr"
import { codePanel } from "../reference/codePanel.ts"
import * as Html from "../reference/Html.ts"
import * as Literal from "@waybill/api/Literal"

/** Returns where a link of a document leads on the site; undefined if the site has no such page. */
export type LinkOf = (target: string) => string | undefined

export interface Heading {
  readonly level: number
  readonly id: string
  readonly text: string
}

/** Returns the text of a heading or a cell without its marks. */
export const plain = (text: string): string =>
  text
    .replaceAll(/<!--[^]*?-->/gu, "")
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/gu, "$1")
    .replaceAll(/\*\*|`|\\(?=[|_*<[])/gu, "")
    .trim()

/** Returns the id of a heading, as GitHub makes it, so that links of the documents work on both. */
export const anchor = (heading: string): string =>
  heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/gu, "$1")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(/\s/gu, "-")

/** Returns the name of a row of a table that begins with code, such as a setting or a command. */
export const nameOfRow = (cells: ReadonlyArray<string>): string | undefined => /^`([^`]+)`/u.exec(cells[0] ?? "")?.[1]

export const idOfName = (name: string): string => anchor(name.split(" [")[0] ?? "")

/** Returns the cells of a line of a table. */
export const cellsOf = (line: string): ReadonlyArray<string> =>
  line
    .trim()
    .replaceAll(/^\||\|$/gu, "")
    .split(/(?<!\\)\|/u)
    .map((cell) => cell.trim().replaceAll("\\|", "|"))

/** A block of a document: lines that belong together. Fences and tables keep all of theirs. */
export type Block =
  | { readonly kind: "heading"; readonly level: number; readonly text: string }
  | { readonly kind: "fence"; readonly language: string; readonly lines: ReadonlyArray<string> }
  | {
      readonly kind: "table"
      readonly head: ReadonlyArray<string>
      readonly rows: ReadonlyArray<ReadonlyArray<string>>
    }
  | { readonly kind: "list"; readonly ordered: boolean; readonly items: ReadonlyArray<ReadonlyArray<Block>> }
  | { readonly kind: "paragraph"; readonly text: string }

const FENCE = /^```(\w*)/u
const ITEM = /^(?:[-*]|\d+\.) +/u
const HEADING = /^(#+) (.+)$/u

/** Reads the Markdown that our documents use; a test holds them to it. Other Markdown becomes a paragraph. */
export const parse = (markdown: string): ReadonlyArray<Block> =>
  blocksOf(markdown.replaceAll(/^<!--[^]*?-->\n?/gmu, "").split("\n"))

const blocksOf = (lines: ReadonlyArray<string>): ReadonlyArray<Block> => {
  const blocks: Array<Block> = []
  let at = 0
  const take = (belongs: (line: string) => boolean): ReadonlyArray<string> => {
    const from = at
    while (at < lines.length && belongs(lines[at] ?? "")) at++
    return lines.slice(from, at)
  }
  while (at < lines.length) {
    const line = lines[at] ?? ""
    const [, marks, heading] = HEADING.exec(line) ?? []
    if (line.trim() === "") at++
    else if (marks !== undefined && heading !== undefined) {
      blocks.push({ kind: "heading", level: marks.length, text: heading })
      at++
    } else if (FENCE.test(line)) {
      at++
      blocks.push({
        kind: "fence",
        language: FENCE.exec(line)?.[1] ?? "",
        lines: take((each) => !each.startsWith("```")),
      })
      at++
    } else if (line.startsWith("|")) {
      const [head = "", , ...rows] = take((each) => each.startsWith("|"))
      blocks.push({ kind: "table", head: cellsOf(head), rows: rows.map(cellsOf) })
    } else if (ITEM.test(line))
      blocks.push(listFrom(take((each) => each.trim() === "" || each.startsWith(" ") || ITEM.test(each))))
    else {
      const text = take((each) => each.trim() !== "" && !ITEM.test(each) && !/^(?:\||```|#+ )/u.test(each)).join("\n")
      blocks.push({ kind: "paragraph", text })
    }
  }
  return blocks
}

const listFrom = (lines: ReadonlyArray<string>): Block => {
  const items: Array<Array<string>> = []
  for (const line of lines) {
    const mark = ITEM.exec(line)?.[0]
    if (mark !== undefined) items.push([line.slice(mark.length)])
    else items.at(-1)?.push(line.replace(/^ {1,3}/u, ""))
  }
  return { kind: "list", ordered: /^\d/u.test(lines[0] ?? ""), items: items.map(blocksOf) }
}

export const headings = (blocks: ReadonlyArray<Block>): ReadonlyArray<Heading> =>
  blocks.flatMap((block) =>
    block.kind === "heading" ? [{ level: block.level, id: anchor(block.text), text: plain(block.text) }] : [],
  )

/** Returns the HTML of blocks. All text is escaped: no tag of a document is passed on. */
export const html = (blocks: ReadonlyArray<Block>, linkOf: LinkOf): string =>
  blocks.map((block) => htmlOf(block, linkOf)).join("\n")

const htmlOf = (block: Block, linkOf: LinkOf): string => {
  switch (block.kind) {
    case "heading":
      return `<h${block.level} id="${Html.escaped(anchor(block.text))}">${inline(block.text, linkOf)}</h${block.level}>`
    case "fence":
      return codePanel({ code: codeOf(block.language, block.lines.join("\n")), language: block.language })
    case "paragraph":
      return `<p>${inline(block.text, linkOf)}</p>`
    case "list": {
      const tag = block.ordered ? "ol" : "ul"
      return `<${tag}>${block.items.map((item) => `<li>${tight(item, linkOf)}</li>`).join("\n")}</${tag}>`
    }
    case "table":
      return tableOf(block.head, block.rows, linkOf)
  }
}

/** Returns code as it stands; JSON as the reference prints it, because documents keep it in few lines, if it is whole. */
const codeOf = (language: string, code: string): string => {
  if (language !== "json") return code
  return valueOr(() => Literal.write(Literal.JSON_TEXT, JSON.parse(code)), code)
}

const tight = (item: ReadonlyArray<Block>, linkOf: LinkOf): string =>
  item.map((block) => (block.kind === "paragraph" ? inline(block.text, linkOf) : htmlOf(block, linkOf))).join("\n")

const tableOf = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>, linkOf: LinkOf): string => {
  const seen = new Set<string>()
  const idOf = (cells: ReadonlyArray<string>): string => {
    const name = nameOfRow(cells)
    const id = name === undefined ? "" : idOfName(name)
    if (id === "" || seen.has(id)) return ""
    seen.add(id)
    return ` id="${Html.escaped(id)}"`
  }
  const header = head.some((cell) => cell !== "")
    ? `<thead><tr>${head.map((cell) => `<th scope="col">${inline(cell, linkOf)}</th>`).join("")}</tr></thead>`
    : ""
  const body = rows.map(
    (cells) => `<tr${idOf(cells)}>${cells.map((cell, at) => cellOf(cell, head[at] ?? "", linkOf)).join("")}</tr>`,
  )
  return `<div class="table" tabindex="0"><table>${header}<tbody>${body.join("\n")}</tbody></table></div>`
}

/** A cell says its column itself, because a phone shows the cells of a row one below the other. */
const cellOf = (cell: string, head: string, linkOf: LinkOf): string => {
  const column = plain(head) === "" ? "" : ` data-head="${Html.escaped(plain(head))}"`
  return `<td${column}>${inline(cell, linkOf)}</td>`
}

const INLINE =
  /(`+)([^]+?)\1|!?\[((?:`[^`]*`|[^\]])*)\]\(([^)\s]+)\)|\*\*([^]+?)\*\*|\*([^*\s][^*]*)\*|<(https?:[^>\s]+)>|\\([|_*<[\]])/gu

/** Returns the HTML of text with code, links and emphasis. */
export const inline = (text: string, linkOf: LinkOf): string => {
  let result = ""
  let at = 0
  for (const found of text.matchAll(INLINE)) {
    const [whole, , code, label, target, strong, soft, address, escape] = found
    result += Html.escaped(text.slice(at, found.index))
    at = found.index + whole.length
    // Code that goes on in the next line has a space there.
    if (code !== undefined) result += `<code>${Html.escaped(code.replaceAll(/\s*\n\s*/gu, " "))}</code>`
    else if (target !== undefined)
      result += linked(label ?? "", whole.startsWith("!") ? undefined : linkOf(target), linkOf)
    else if (strong !== undefined) result += `<strong>${inline(strong, linkOf)}</strong>`
    else if (soft !== undefined) result += `<em>${inline(soft, linkOf)}</em>`
    else if (address !== undefined) result += linked(address, address, linkOf)
    else result += Html.escaped(escape ?? "")
  }
  return result + Html.escaped(text.slice(at))
}

const linked = (label: string, target: string | undefined, linkOf: LinkOf): string =>
  target === undefined ? inline(label, linkOf) : `<a href="${Html.escaped(target)}">${inline(label, linkOf)}</a>`
