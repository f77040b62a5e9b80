import * as HtmlReference from "@waybill/mail/compose/HtmlReference"
import * as HtmlTags from "@waybill/mail/compose/HtmlTags"
import * as TrackedHtml from "@waybill/mail/compose/TrackedHtml"
import * as TrackedLink from "@waybill/mail/compose/TrackedLink"
import { Arbitrary, Schema } from "effect"
import { assert, describe, it } from "../../support/effectTest.ts"
import { processorMs } from "../../support/processorMs.ts"

const rewrite = (html: string, addresses: TrackedHtml.Addresses, own: ReadonlySet<string> = new Set()) =>
  TrackedHtml.write(html, TrackedHtml.find({ html, own, links: addresses.click !== undefined }), addresses)

/** Marks a tracked link visibly. */
const click = (url: string) => `T[${url}]`
const clicks = (html: string, own?: ReadonlySet<string>) => rewrite(html, { click }, own)
const OPEN = "https://track.acme.test/t/o/x"
const PICTURE = `<img src="${OPEN}" alt="" width="1" height="1" style="display:block;width:1px;height:1px;border:0">`
const opens = (html: string) => rewrite(html, { open: OPEN })

describe("a link", () => {
  it.for([
    ['<a href="https://x.test/">x</a>', '<a href="T[https://x.test/]">x</a>'],
    ["<A\n\tHREF = 'HTTP://x.test/'\n>x</A>", "<A\n\tHREF = 'T[HTTP://x.test/]'\n>x</A>"],
    ["<a href=https://x.test/a/>x", '<a href="T[https://x.test/a/]">x'],
    ["<a href=https://x.test class=b>x", '<a href="T[https://x.test]" class=b>x'],
    ['<map><area href="https://x.test/" /></map>', '<map><area href="T[https://x.test/]" /></map>'],
    ['<a title="a > b" href="https://x.test/">', '<a title="a > b" href="T[https://x.test/]">'],
    [
      '<a title="<a href=\'https://y.test\'>" href="https://x.test/">',
      '<a title="<a href=\'https://y.test\'>" href="T[https://x.test/]">',
    ],
    ['<a href="https://x.test/" href="https://y.test/">', '<a href="T[https://x.test/]" href="https://y.test/">'],
    ['<a/href="https://x.test/">', '<a/href="T[https://x.test/]">'],
    ['<a class=x"y href="https://x.test/">', '<a class=x"y href="T[https://x.test/]">'],
    ['<a href="  https://x.test/ ">', '<a href="T[https://x.test/]">'],
    ['<a href="https://x.test/a b">', '<a href="T[https://x.test/a%20b]">'],
    ['<a href="https://x.test/\n a">', '<a href="T[https://x.test/%20a]">'],
    ['<a href="https://bücher.test/ü?ö#ä">', '<a href="T[https://xn--bcher-kva.test/%C3%BC?%C3%B6#%C3%A4]">'],
    ['<a href="https://x.test/?a=1&amp;b=2&c=3">', '<a href="T[https://x.test/?a=1&amp;b=2&amp;c=3]">'],
    ['<a href="https://x.test/?a&copy=1&amp">', '<a href="T[https://x.test/?a&amp;copy=1&amp;]">'],
    ['<a href="https&#58;&#x2F;/x.test/&#39;">', '<a href="T[https://x.test/&#39;]">'],
    ['<a href="https://x.test/#part">', '<a href="T[https://x.test/#part]">'],
    ["a < b <> </> <3 <a href=https://x.test>", 'a < b <> </> <3 <a href="T[https://x.test]">'],
    [
      "<!-- x --><a href=https://x.test><!--> --><a href=https://y.test>",
      '<!-- x --><a href="T[https://x.test]"><!--> --><a href="T[https://y.test]">',
    ],
    [
      "<!--a--!><a href=https://x.test><!---><a href=https://y.test>",
      '<!--a--!><a href="T[https://x.test]"><!---><a href="T[https://y.test]">',
    ],
    ["<![if !mso]><a href=https://x.test><![endif]>", '<![if !mso]><a href="T[https://x.test]"><![endif]>'],
    ["<![CDATA[><a href=https://x.test>", '<![CDATA[><a href="T[https://x.test]">'],
    ["<svg/></svg><![CDATA[><a href=https://x.test>", '<svg/></svg><![CDATA[><a href="T[https://x.test]">'],
    ["<style>a</style ><a href=https://x.test>", '<style>a</style ><a href="T[https://x.test]">'],
    ["<STYLE></STYLEX></sTyLe><a href=https://x.test>", '<STYLE></STYLEX></sTyLe><a href="T[https://x.test]">'],
  ] as const)("%s is tracked", ([html, expected]) => {
    assert.strictEqual(clicks(html), expected)
  })

  it.for([
    '<a href="mailto:a@x.test">',
    '<a href="tel:+1">',
    '<a href="#top">',
    '<a href="/path">',
    '<a href="//x.test/">',
    '<a href="path?u=https://x.test">',
    "<a href=\"javascript:location='https://x.test'\">",
    '<a href="java\tscript:alert(1)">',
    '<a href="data:text/html,https://x.test">',
    '<a href="ftp://x.test/">',
    '<a href="https:x.test">',
    '<a href="https:\\\\x.test">',
    '<a href="https://">',
    '<a href="https://x.test:99999/">',
    '<a href="https://me:secret@x.test/">',
    '<a href="{{url}}">',
    '<a href="https://x.test/{{id}}">',
    '<a href="https://x.test/&nbsp;">',
    '<a href="https://x.test/?a=1&copy">',
    '<a href="https://x.test/&#0;">',
    '<a href="https://x.test/&#xD800;">',
    '<a href="https://x.test/&#99999999999999999999;">',
    "<a href>x</a><a>y</a><a href=>z</a>",
    '<a data-href="https://x.test/">',
    '<b href="https://x.test/"><link href="https://x.test/"><img src="https://x.test/">',
    '<abbr href="https://x.test/">',
    '</a href="https://x.test/">',
    '<!-- <a href="https://x.test/"> -->',
    '<!--[if mso]><a href="https://x.test/"><![endif]-->',
    '<!-- <a href="https://x.test/">',
    '<style><a href="https://x.test/"></style>',
    '<script>"<a href=https://x.test/>"</script>',
    '<title><a href="https://x.test/"></title>',
    '<textarea><a href="https://x.test/">',
    '<xmp><a href="https://x.test/"></xmp>',
    '<plaintext></plaintext><a href="https://x.test/">',
    '<? <a href="https://x.test/"',
    '<a href="https://x.test/"',
    '<a href="https://x.test/>x</a>',
    "< a href=https://x.test/>",
    '<svg><svg></svg><text><![CDATA[1 > <a href="https://x.test/">]]></text></svg>',
    "",
    "just text",
  ])("%s is not tracked", (html) => {
    assert.strictEqual(clicks(html), html)
  })

  it("to the message's own unsubscribe address is not tracked", () => {
    const own = new Set(["https://x.test/off?a=1&b=2"])
    const html = '<a href="https://x.test/off?a=1&amp;b=2">off</a>'
    assert.strictEqual(clicks(html, own), html)
    assert.notStrictEqual(clicks(html), html)
  })

  it.for([
    ['<a href="https://x.test/" data-waybill-no-track>x', '<a href="https://x.test/">x'],
    ['<a data-waybill-no-track href="https://x.test/">x', '<a href="https://x.test/">x'],
    ['<a Data-Waybill-No-Track="1"href="https://x.test/">x', '<a href="https://x.test/">x'],
    ["<a data-waybill-no-track>x", "<a>x"],
    ["<b data-waybill-no-track>x", "<b data-waybill-no-track>x"],
  ] as const)("%s opts out of tracking", ([html, expected]) => {
    assert.strictEqual(clicks(html), expected)
    assert.strictEqual(opens(html), html + PICTURE)
  })

  it("is not tracked above a maximum length", () => {
    const long = (part: string) => `<a href="https://x.test/${part.repeat(TrackedLink.MAX_TRACKED_URL_CHARS)}">`
    for (const html of [long("x"), long("&amp;")]) assert.strictEqual(clicks(html), html)
  })

  it("is not tracked beyond a maximum number of links", () => {
    const html = '<a href="https://x.test/">'.repeat(TrackedHtml.MAX_TRACKED_LINKS + 1)
    assert.strictEqual(clicks(html).split("T[").length - 1, TrackedHtml.MAX_TRACKED_LINKS)
  })
})

describe("the tracking pixel", () => {
  it.for([
    ["<p>x</p>", `<p>x</p>${PICTURE}`],
    ["<html><body>x</body></html>", `<html><body>x${PICTURE}</body></html>`],
    ["<body>x</body>y</BODY\n>", `<body>x</body>y${PICTURE}</BODY\n>`],
    ["<body>x<!-- </body> -->", `<body>x<!-- </body> -->${PICTURE}`],
    ["", PICTURE],
  ] as const)("is inserted at the end of the body: %s", ([html, expected]) => {
    assert.strictEqual(opens(html), expected)
  })

  it.for([
    "<p>x</",
    "<p>x<!",
    "<p>x<!-- open",
    "<title>open",
    "<p>x<a href='",
    "<style>",
    "<plaintext>",
    "<svg><![CDATA[>",
  ])("is left out when the document ends inside a construct: %s", (html) => assert.strictEqual(opens(html), html))
})

describe("a character reference", () => {
  it.for([
    ["&amp;&AMP;&lt;&gt;&quot;&apos;", "&&<>\"'"],
    ["&#38;&#x26;&#X26;&#38 &#9;", "&&&& \t"],
    ["&amp=1&amp1&notit&foo&x=1", "&amp=1&amp1&notit&foo&x=1"],
    ["&amp&lt", "&<"],
    ["&", "&"],
  ] as const)("%s is decoded", ([written, read]) => assert.strictEqual(HtmlReference.decode(written), read))
  it.for(["&eacute;", "&copy", "&yen/", "&#x80;", "&#0", "&nosuch;", "&constructor;"])("%s is not decoded", (written) =>
    assert.isUndefined(HtmlReference.decode(written)),
  )
})

/** Fragments that have broken tokenizers; the generator combines them. */
const Scrap = Schema.Literals([
  "<",
  ">",
  "</",
  "<a ",
  "<a href=",
  '<a href="https://x.test/?a&amp;b">',
  "</a>",
  "href='",
  '"',
  "'",
  "=",
  "/",
  " ",
  "<!--",
  "-->",
  "--",
  "!",
  "<![CDATA[",
  "<style>",
  "</style>",
  "<script",
  "</script>",
  "</body>",
  "<title>",
  "&",
  "&#",
  "&#x",
  "https://",
  "\0",
  "\ud800",
  "é",
  "x",
  "\n",
])
const Html = Arbitrary.map(Arbitrary.schema(Schema.Array(Scrap)), (scraps) => scraps.join(""))

describe("any HTML", () => {
  // threat: tracked-links
  it.prop("changes only in its links", [Html], ([html]) => {
    const marked = rewrite(html, { click: () => "\u0001", open: "\u0002" })
    const kept = marked.replace(PICTURE.replace(OPEN, "\u0002"), "").replaceAll('"\u0001"', "\u0001").split("\u0001")
    let at = 0
    for (const part of kept) {
      const found = html.indexOf(part, at)
      assert.isAtLeast(found, at, part)
      at = found + part.length
    }
    assert(html.startsWith(kept[0] ?? "") && html.endsWith(kept.at(-1) ?? ""))
    assert.strictEqual(rewrite(html, {}), html)
  })

  it("needs memory only for requested attributes of a tag", () => {
    const html = `<a ${"x ".repeat(100_000)}${"href=https://x.test ".repeat(1_000)}>`
    const asked = new Set(["href"])
    assert.deepStrictEqual(
      Array.from(HtmlTags.tags(html, asked), ({ attributes }) => attributes.length),
      [1],
    )
  })

  // threat: blocked-loop
  it("takes time linear in its length", () => {
    const long = 100_000
    for (const scrap of [
      "<a ",
      "<!--",
      "<a href='x",
      "<style>",
      "</style",
      "<a x=",
      "x ",
      "--",
      "<!---",
      "</",
      "&amp",
      "<a href=https://x>",
    ]) {
      const html = scrap.repeat(Math.ceil(long / scrap.length))
      for (const before of ["", "<a ", "<!--", "<style>", "<a href='", '<a href="https://x.test/ ']) {
        const began = processorMs()
        rewrite(before + html, { click, open: OPEN })
        assert.isBelow(processorMs() - began, 1_000, `${before} and many ${scrap}`)
      }
    }
  })
})
