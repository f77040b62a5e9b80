import { mail, shape, type Shape } from "./Shape.ts"

const bytes = (hex: string): string => Buffer.from(hex.replaceAll(" ", ""), "hex").toString("latin1")

/** A charset as a mail names it, the bytes of a text in it, and the text. */
const TEXTS: ReadonlyArray<readonly [charset: string, hex: string, text: string, unlike?: string]> = [
  ["iso-8859-1", "47 72 fc df 65", "Grüße"],
  ["ISO-8859-2", "af f3 b3 e6", "Żółć"],
  ["iso-8859-5", "bf e0 d8 d2 d5 e2", "Привет"],
  ["iso-8859-7", "ca e1 eb de", "Καλή"],
  ["iso-8859-8", "f9 ec e5 ed", "שלום"],
  ["iso-8859-8-i", "f9 ec e5 ed", "שלום"],
  ["iso-8859-9", "de 69 fe 65", "Şişe"],
  ["iso-8859-13", "c2 74 72 73", "Ātrs"],
  ["iso-8859-15", "a4 20 33", "€ 3"],
  ["windows-1250", "af f3 b3 e6", "Żółć"],
  ["windows-1251", "cf f0 e8 e2 e5 f2", "Привет"],
  ["Windows-1252", "80 20 93 33 94", "€ “3”"],
  ["windows-1253", "ca e1 eb de", "Καλή"],
  ["windows-1254", "de 69 fe 65", "Şişe"],
  ["windows-1255", "f9 ec e5 ed", "שלום"],
  ["windows-1256", "d3 e1 c7 e3", "سلام"],
  ["windows-1257", "c2 74 72 73", "Ātrs"],
  ["koi8-r", "f0 d2 c9 d7 c5 d4", "Привет"],
  ["KOI8-U", "f0 d2 c9 d7 a6 d4", "Привіт"],
  ["gb2312", "d6 d0 ce c4", "中文"],
  ["gbk", "d6 d0 ce c4", "中文"],
  ["GB18030", "d6 d0 ce c4", "中文"],
  ["big5", "a4 a4 a4 e5", "中文"],
  ["euc-jp", "c6 fc cb dc", "日本"],
  ["iso-2022-jp", "1b 24 42 46 7c 4b 5c 1b 28 42", "日本"],
  ["Shift_JIS", "93 fa 96 7b", "日本"],
  ["euc-kr", "c7 d1 b1 db", "한글"],
  ["ks_c_5601-1987", "c7 d1 b1 db", "한글"],
  ["macintosh", "47 72 9f a7 65", "Grüße"],
  ["utf8", "47 72 c3 bc c3 9f 65", "Grüße"],
  ['"utf-8"', "47 72 c3 bc c3 9f 65", "Grüße"],
  ["cp1252", "47 72 fc df 65", "Grüße"],
  ["latin1", "47 72 fc df 65", "Grüße"],
  ["utf-8", "ef bb bf 48 69", "Hi"],
  ["us-ascii", "47 72 fc df 65", "Grüße"],
  ["utf-16le", "48 00 69 00", "Hi"],
]

export const charsets: ReadonlyArray<Shape> = TEXTS.map(([charset, hex, text, unlike]) =>
  shape(
    `charset ${charset}`,
    mail(
      [`Content-Type: text/plain; charset=${charset}`, "Content-Transfer-Encoding: base64"],
      Buffer.from(bytes(hex), "latin1").toString("base64"),
    ),
    { text, complete: true },
    unlike,
  ),
)
