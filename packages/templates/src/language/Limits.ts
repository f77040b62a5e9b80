/** Time that one rendering may take. */
export const RENDER_MS = 50
/** Characters that a rendered part may have. */
export const MAX_OUTPUT_CHARS = 1024 * 1024
/** Characters of one source: the HTML, the text or another part of a template. */
export const MAX_SOURCE_CHARS = 256 * 1024
/** Characters and items of the texts and lists that one rendering may make; loops over ranges count, too. */
export const MAX_MADE = 1024 * 1024
/** Characters that are compared in the time of one item. */
export const CHARS_AT_ONCE = 32
/** Tags and outputs of one source. */
export const MAX_PIECES = 2_000
/** Characters of one tag or output. */
export const MAX_PIECE_CHARS = 4_096
/** Names in one path of a variable, such as the three of `order.items[0].price` and its place. */
export const MAX_PATH_NAMES = 10
/** Characters of a property that a filter reads of each item, as in `where: "address.city"`. */
export const MAX_PROPERTY_CHARS = 64
/** Characters of the format of a date. */
export const MAX_DATE_FORMAT_CHARS = 256
/** Partials and layouts of one template, those of its partials included. */
export const MAX_PARTS = 50
/** Characters of a template with its parts, and tags and outputs of all of them. */
export const MAX_TOGETHER_CHARS = 512 * 1024
export const MAX_TOGETHER_PIECES = 3_000
