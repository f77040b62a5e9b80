import * as Liquid from "@waybill/templates/language/Liquid"
import { assert, describe, it } from "../../support/effectTest.ts"

const WRITING = { locale: "en", time_zone: "UTC" }

const render = (source: string, variables: object = {}, parts: Liquid.Parts = {}): string => {
  assert.deepStrictEqual(Liquid.problemsOf("html", source), [])
  const rendered = Liquid.render(Liquid.compile("html", source, parts), variables, WRITING)
  return "text" in rendered ? rendered.text : assert.fail(rendered.problem.message)
}

const HOSTILE = `"'><script>alert(1)</script>`

/** A comment that Outlook reads as HTML. */
const MSO = (html: string) => `<!--[if gte mso 9]>${html}<![endif]-->`

/** A place in the HTML, a hostile value, and how it must come out. */
const PLACES: ReadonlyArray<readonly [source: string, value: string, expected: string]> = [
  ["<p>{{ x }}</p>", HOSTILE, "<p>&#34;&#39;&gt;&lt;script&gt;alert(1)&lt;/script&gt;</p>"],
  ['<p title="{{ x }}">', HOSTILE, '<p title="&#34;&#39;&gt;&lt;script&gt;alert(1)&lt;/script&gt;">'],
  ["<p title='{{ x }}'>", `' onclick='alert(1)`, "<p title='&#39; onclick=&#39;alert(1)'>"],
  ['<a href="{{ x }}">', "https://example.org/?a=1&b=2", '<a href="https://example.org/?a=1&amp;b=2">'],
  ['<a href="{{ x }}">', "javascript:alert(1)", '<a href="about:blank#blocked">'],
  ['<a href="{{ x }}">', " java\nscript:alert(1)", '<a href="about:blank#blocked">'],
  ['<a href=" {{ x }}">', "JavaScript:alert(1)", '<a href=" about:blank#blocked">'],
  [
    '<object><param name="movie" value="{{ x }}"></object>',
    "javascript:x",
    '<object><param name="movie" value="about:blank#blocked"></object>',
  ],
  ['<input value="{{ x }}">', "javascript:x", '<input value="javascript:x">'],
  [
    '<img lowsrc="{{ x }}" dynsrc="{{ x }}">',
    "javascript:x",
    '<img lowsrc="about:blank#blocked" dynsrc="about:blank#blocked">',
  ],
  ['<img src="{{ x }}" alt="">', "data:text/html,x", '<img src="about:blank#blocked" alt="">'],
  ['<a href="{{ x }}">', "/path?at=12:30", '<a href="/path?at=12:30">'],
  ['<a href="https://example.org/{{ x }}">', "12:30", '<a href="https://example.org/12:30">'],
  ['<a href="{% if y %}https:{% else %}{{ x }}{% endif %}">', "vbscript:x", '<a href="about:blank#blocked">'],
  ['<a href="{{ y }}{{ x }}">', "javascript:x", '<a href="about:blank#blocked">'],
  [
    '<p style="color:{{ x }}">',
    "red;background:url(//evil)",
    '<p style="color:red\\3b background\\3a url\\28 \\2f \\2f evil\\29 ">',
  ],
  [
    "<style>a{color:{{ x }}}</style>",
    "red}</style><script>",
    "<style>a{color:red\\7d \\3c \\2f style\\3e \\3c script\\3e }</style>",
  ],
  ["<title>{{ x }}</title>", "</title><script>", "<title>&lt;/title&gt;&lt;script&gt;</title>"],
  ["{% capture y %}<b>{{ x }}</b>{% endcapture %}{{ y }}", "<", "<b>&lt;</b>"],
  ['{% capture y %}{{ x }}{% endcapture %}<a href="{{ y }}">', "javascript:x", '<a href="about:blank#blocked">'],
  ["{{ x | raw }}", "<b>", "<b>"],
  ["1 < {{ x }}", "2", "1 < 2"],
  [`<meta http-equiv="a"><meta name="b" content="{{ x }}">`, "c", `<meta http-equiv="a"><meta name="b" content="c">`],
  ['<a href="&Tab;{{ x }}">', "javascript:x", '<a href="&Tab;about:blank#blocked">'],
  ['<a href="&#9{{ x }}">', "javascript:x", '<a href="&#9about:blank#blocked">'],
  ['<a href="&{{ x }}">', "Tab;javascript:x", '<a href="&about:blank#blocked">'],
  ['<a href="java{{ x }}">', "script:x", '<a href="javaabout:blank#blocked">'],
  ['<a href="{{ y }}?a=1&amp;at={{ x }}:00">', "12:30", '<a href="?a=1&amp;at=12:30:00">'],
  ['<a href="https://{% if x %}{{ x }}.{% endif %}a.org:80">', "b:c", '<a href="https://b:c.a.org:80">'],
  [
    "<td{% if x %} class='a'{% else %} id='b'{% endif %}{% if x %} lang='c'{% endif %} x>",
    "a",
    "<td class='a' lang='c' x>",
  ],
  ["<option {% if x %}selected{% endif %}>", "a", "<option selected>"],
  [
    `{% capture y %}<b class="{{ x }}">{% endcapture %}<p title="{{ y }}">`,
    "a",
    '<p title="&lt;b class=&#34;a&#34;&gt;">',
  ],
  ["{% comment %}{% endcomment x %}<p title='{{ x }}'>", "'", "<p title='&#39;'>"],
  ["{% comment %}{{ '{% endcomment %}' }}{% endcomment %}<p title='{{ x }}'>", "'", "<p title='&#39;'>"],
  ["{% comment %}{% raw %}{% endcomment %}{% endraw %}{% endcomment %}<p title='{{ x }}'>", "'", "<p title='&#39;'>"],
  ["{% capture y %}{{ x }}{% endcapture %}<p title='{{ y }}'>", "a & b'<", "<p title='a &amp; b&#39;&lt;'>"],
  ["{% capture y %}<b>{{ x }}{% endcapture %}<title>{{ y }}</title>", "&", "<title>&lt;b&gt;&amp;</title>"],
  [
    "{% capture y %}</textarea>{% endcapture %}<textarea>{{ y }}</textarea>",
    "",
    "<textarea>&lt;/textarea&gt;</textarea>",
  ],
  ['{% capture y %}/?a={{ x }}&b=1{% endcapture %}<a href="{{ y }}">', "&", '<a href="/?a=&amp;&b=1">'],
  ['{% capture y %}{{ x }}&colon;a{% endcapture %}<a href="{{ y }}">', "javascript", '<a href="about:blank#blocked">'],
  ['<a href="{{ x }}://{{ y }}">', "https", '<a href="https://">'],
  ['<a href="{{ x }}:{{ x }}">', "JavaScript", '<a href="about:blank#blocked:JavaScript">'],
  [MSO('<a href="{{ x }}:a">'), "javascript", MSO('<a href="about:blank#blocked:a">')],
  ["<!x '>{{ x }}", "<", "<!x '>&lt;"],
  ["<!doctype html PUBLIC '-//W3C'><p title='{{ x }}'>", "'", "<!doctype html PUBLIC '-//W3C'><p title='&#39;'>"],
  ["<!-- a --!>{{ x }}", "-->", "<!-- a --!>--&gt;"],
  ["<!-->{{ x }}", "<", "<!-->&lt;"],
  ["<!--->{{ x }}", "<", "<!--->&lt;"],
  ["<!--[if mso]>--!>{{ x }}<![endif]-->", "<", "<!--[if mso]>--!>&lt;<![endif]-->"],
  ["<xmp><!--</xmp>{{ x }}", "<", "<xmp><!--</xmp>&lt;"],
  ["<title></titlex></title>{{ x }}", "<", "<title></titlex></title>&lt;"],
  ["<td{% for i in (1..2) %} a{% endfor %}>", "", "<td a a>"],
  ["<!-- {% if x %}a{% endif %} -->", "", "<!-- a -->"],
  [MSO('<p title="{{ x }}-{{ x }}">'), "-", MSO('<p title="&#45;-&#45;">')],
  ["{% raw %}{%- endraw %}<i>{% endraw x %}<p title='{{ x }}'>", "'", "{%- endraw %}<i><p title='&#39;'>"],
  ["<p title='a {{- x -}} b'>", "2", "<p title='a2b'>"],
  [MSO("{{ x }}"), "--><script>", MSO("&#45;&#45;&gt;&lt;script&gt;")],
  [MSO("{{ x }}>"), "--", MSO("&#45;&#45;>")],
  [MSO("-{{ x }}>"), "-!", MSO("-&#45;!>")],
  [
    MSO('<v:rect title="{{ x }}" href="{{ x }}">'),
    '--">',
    MSO('<v:rect title="&#45;&#45;&#34;&gt;" href="&#45;&#45;&#34;&gt;">'),
  ],
  [MSO('<v:roundrect href="{{ x }}">'), "javascript:x", MSO('<v:roundrect href="about:blank#blocked">')],
  [MSO('<td style="width:{{ x }}">'), "-5px", MSO('<td style="width:-5px">')],
  [MSO('<td style="width:{{ x }}>">'), "--", MSO('<td style="width:-\\2d >">')],
  [
    MSO("<style>p{width:{{ x }}}</style>"),
    "<![endif]-->",
    MSO("<style>p{width:\\3c \\21 \\5b endif\\5d --\\3e }</style>"),
  ],
  [MSO("{% capture y %}{{ x }}<i>{% endcapture %}{{ y }}>"), "--", MSO("&#45;&#45;&lt;i&gt;>")],
  [MSO("{% if x %}<p>{{ x }}</p>{% endif %}"), "a", MSO("<p>a</p>")],
  ["<!--[if !mso]><!-->{{ x }}<!--<![endif]-->", "-->", "<!--[if !mso]><!-->--&gt;<!--<![endif]-->"],
  ['{% render "part", y: x %}', `" onclick="`, '<i title="&#34; onclick=&#34;">&#34; onclick=&#34;</i>'],
]

const HALF_TAG = "what is written behind this would become a tag; write &lt;"
const OTHER_BLANK = "put a plain space between attributes: a browser reads this one as a letter"
const TRIMMED = "between attributes no white space can be left out; write this without the hyphens"
const BRANCH = "an element or a value in quotes that begins in a branch must end in the same branch"
const NAME = "the name of an element or attribute cannot be put together; write a space before this"
const PASS = "the next pass goes on with this name; write a space before this"
const COMMENT_END = "the end of a comment cannot be put together; write it as a whole"
const NO_END = "this element or comment does not end in the same source"
const SCHEME = 'a variable cannot choose the scheme; write it, as in href="https://{{ … }}"'
const META = "a variable cannot stand in a meta element with http-equiv, which acts as a header"
const IN_COMMENT =
  "a variable cannot stand in an HTML comment that is not Outlook's, as <!--[if mso]>…<![endif]-->; use {% comment %} for notes"

/** A place where no value can be made harmless. */
const REFUSED: ReadonlyArray<readonly [source: string, column: number, message: string]> = [
  ["<a href={{ x }}>", 9, 'put the value of the attribute in quotes, as in title="{{ … }}"'],
  ["<script>{{ x }}</script>", 9, "a variable cannot stand in a script"],
  ["<a {{ x }}>", 4, "a variable cannot stand in the name of an element or attribute; put it into a value in quotes"],
  ["<!-- {{ x }} -->", 6, IN_COMMENT],
  ["<!--[if mso]>{{ x }}-->", 14, IN_COMMENT],
  ["<!--[if mso]><!-- {{ x }}<![endif]-->", 19, IN_COMMENT],
  ["<!--[if mso]>-->{% if y %}<!-- {{ x }} -->{% endif %}", 32, IN_COMMENT],
  ['<!--[if mso]><a title="<![endif]-->{{ x }}">', 36, "the conditional comment before must end between elements"],
  ['<!--[if mso]>{% render "x" %}<![endif]-->', 14, "{% render %} can stand only between elements, and in no comment"],
  ["<!--[if mso]>{% cycle x, y %}<![endif]-->", 14, "{% cycle %} cannot stand in a style, an address or a comment"],
  ["<!--[if mso]>{% if x %}<![endif]-->{% endif %}", 36, BRANCH],
  [
    '<svg><a><set attributeName="href" to="{{ x }}"/></a></svg>',
    39,
    "a variable cannot stand in an attribute of set, which is read as code or HTML",
  ],
  [
    '<svg><a><animate attributeName="href" values="#;{{ x }}"/></a></svg>',
    49,
    "a variable cannot stand in an attribute of animate, which is read as code or HTML",
  ],
  [
    '<svg><animateTransform from="{{ x }}"/></svg>',
    30,
    "a variable cannot stand in an attribute of animatetransform, which is read as code or HTML",
  ],
  ['<a onclick="{{ x }}">', 13, "a variable cannot stand in onclick, which is read as code or HTML"],
  ["<iframe srcdoc='{{ x }}'>", 17, "a variable cannot stand in srcdoc, which is read as code or HTML"],
  ['<a title="{% render "x" %}">', 11, "{% render %} can stand only between elements, and in no comment"],
  ['<a {% if x %}title="{% endif %}>', 21, BRANCH],
  ["<p>Ana <{{ x }}></p>", 8, HALF_TAG],
  ["</{{ x }}>", 1, HALF_TAG],
  ["< {{- x }}>", 1, HALF_TAG],
  ["<{% if x %}b{% endif %}>", 1, HALF_TAG],
  ["{% raw %}<{% endraw %}{{ x }}", 10, HALF_TAG],
  ["<td \u00a0align=left>", 5, OTHER_BLANK],
  ["<a o{% comment %}{% endcomment %}nclick='a'>", 34, NAME],
  ["<scr{% assign y = 1 %}ipt>", 23, NAME],
  ["<a {% if y %}o{% endif %}nclick='a'>", 26, NAME],
  ["<a o{% if y %} {% endif %}nclick='a'>", 27, NAME],
  ["<b>a</b><script>", 9, NO_END],
  ["<a class='b' href='", 1, NO_END],
  ["a <!-- b", 3, NO_END],
  ["a <", 3, HALF_TAG],
  ["<p title='{% layout \"x\" %}'>", 11, "{% layout %} can stand only between elements, and in no comment"],
  ['<a href="{{ y }}{{ x }}:a">', 24, SCHEME],
  ['<a href="java{{ x }}:a">', 21, SCHEME],
  ['<a href="{% for i in y %}{% if i.a %}:a{% else %}{{ i.b }}{% endif %}{% endfor %}">', 38, SCHEME],
  ['<a href="{{ x }}&colon;{{ y }}">', 17, SCHEME],
  ['<a href="{{ x }}&#x3A;a">', 17, SCHEME],
  ['<a href="{% if y %}{{ x }}{% endif %}{% if y %}:{% endif %}{{ y }}">', 48, SCHEME],
  ['<meta http-equiv="refresh" content="0;url={{ x }}">', 43, META],
  ['<META content="{{ x }}" HTTP-EQUIV="refresh">', 25, META],
  [
    "<title></tit{% assign y = 1 %}le></title>",
    13,
    "the end of an element cannot be put together; write it as a whole",
  ],
  ["<a {%- if x %} title='a'{% endif %}>", 4, TRIMMED],
  ["<a {% if x %} title='a' {% endif -%} id=b>", 25, TRIMMED],
  ["<a href=/x{% comment %}{% endcomment -%} title='a'>", 24, TRIMMED],
  ["<a {%" + " ".repeat(70) + "if x %}title='{% endif %}>", 90, BRANCH],
  ["<a {% for i in x %}nclick='a' o{% endfor %}>", 32, PASS],
  ["<!x {{ x }}>", 5, IN_COMMENT],
  ["<? {{ x }}>", 4, IN_COMMENT],
  ["<!-- {% if x %}--{% endif %}> -->", 18, COMMENT_END],
  ["<!-- a -{% if x %}{% endif %}-> -->", 30, COMMENT_END],
  ["<!-- -{% if x %}-{% endif %}> -->", 29, COMMENT_END],
  ["<!--{% if x %}{% endif %}> -->", 5, COMMENT_END],
  [MSO('<p title="-{{ x }}->">'), 38, COMMENT_END],
  ["<script><!--</script>{{ x }}</script>", 9, "a script cannot hold <!--, which changes where it ends"],
  ["<td width=100\u00a0title='a'>", 14, OTHER_BLANK],
]

describe("variables in HTML", () => {
  for (const [source, x, expected] of PLACES)
    it(`are escaped for their place: ${source} with ${JSON.stringify(x)}`, () => {
      const parts = { part: '<i title="{{ y }}">{{ y }}</i>' }
      assert.strictEqual(render(source, { x }, parts), expected)
    })

  for (const [source, column, message] of REFUSED)
    // threat: templates
    it(`are refused where nothing makes them harmless: ${source}`, () => {
      assert.deepStrictEqual(Liquid.problemsOf("html", source), [{ line: 1, column, message }])
    })

  it("have no place in a text, which is not escaped", () => {
    const rendered = Liquid.render(Liquid.compile("text", "Hi {{ x }}", {}), { x: "<Ana>" }, WRITING)
    assert.deepInclude(rendered, { text: "Hi <Ana>" })
  })

  it("go on after raw text and comments, in which nothing names a part", () => {
    const uses =
      "{% raw %}{% render 'a' %}{% endraw %}{% comment %}{% render 'b' %}{% endcomment %}{{ \"{% render 'c' %}\" }}"
    assert.deepStrictEqual(Liquid.usesOf(`${uses}{% render 'd' %}`), ["d"])
    assert.strictEqual(render(uses), "{% render 'a' %}{% render &#39;c&#39; %}")
  })

  it("reach no file, and run nothing", () => {
    for (const tag of [
      'include "/etc/passwd"',
      "liquid echo 1",
      'echo "a"',
      "tablerow x in y",
      'block "a"',
      "javascript",
      'require "fs"',
    ])
      assert.match(Liquid.problemsOf("html", `{% ${tag} %}`)[0]?.message ?? "", /tag/u, tag)
    // Parts are those of the account alone.
    for (const name of ["/etc/passwd", "../../package.json", "file:///etc/passwd", "https://example.org/"])
      for (const tag of ["render", "layout"])
        assert.throws(() => Liquid.compile("html", `{% ${tag} "${name}" %}`, { footer: "x" }), undefined, name)
    const outputs = "{{ process }}{{ require }}{{ globalThis }}{{ process.env.PATH }}{{ this.constructor }}"
    assert.strictEqual(render(outputs), "")
  })

  it("reach no prototype", () => {
    const names = ["constructor", "__proto__", "toString", "hasOwnProperty"]
    const source = names.map((name) => `{{ ${name} }}{{ x.${name} }}{{ x["${name}"] }}{{ "a".${name} }}`).join("")
    assert.strictEqual(render(source, { x: {} }), "")
  })
})
