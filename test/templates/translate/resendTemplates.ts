/** Templates as customers of Resend write them. */
export const RESEND: ReadonlyArray<string> = [
  "<p>Hi {{{name}}}</p>",
  "<p>Hi {{{ name }}}</p>",
  "<p>{{{company.name}}}</p>",
  "<p>{{{company.address.city}}}, {{{company.address.zip}}}</p>",
  "<div>{{{note}}}</div>",
  "<div>{{note}}</div>",
  "<p>{{{unknown}}}</p>",
  '<a href="{{{url}}}">Open</a>',
  '<a href="https://acme.test/{{{count}}}?q=1">Open</a>',
  '<img src="{{{url}}}" alt="{{{name}}}">',
  '<td style="width: {{{count}}}px">{{{total}}}</td>',
  "<p>{{{count}}} of {{{zero}}}</p>",
  "<p>{{{yes}}} and {{{no}}}</p>",
  "{{{name}}}",
  "{{{name}}}{{{count}}}",
  "<p>\n{{{name}}}\n</p>\n",
  "  {{{name}}}  \n",
  "\n{{{name}}}\n\n{{{total}}}\n",
  "<p>{{{name}}}, {{{name}}} and {{{name}}}</p>",
  "<p>{ {{{name}}} }</p>",
  "<p>100 % of {{{name}}}</p>",
  "<p>{% {{{name}}} %}</p>",
  "<style>p { color: red }</style><p>{{{name}}}</p>",
  "<style>.a { b: {{{count}}} }</style>",
  "<script>var a = 1</script>{{{name}}}",
  "<!-- a note --><p>{{{name}}}</p>",
  "<p title='{{{plan}}}'>{{{name}}}</p>",
  "<p>{{{FIRST_NAME}}} {{{LAST_NAME}}}</p>",
  "<p>{{{FIRST_NAME}}}: {{{order_1}}}</p>",
  "<p>{{{ORDER_TOTAL}}} &euro;</p>",
  "<p>&lt;{{{name}}}&gt;</p>",
  "<h1>Confirm</h1><p>{{{CODE}}}</p>",
  "<table><tr><td>{{{name}}}</td><td>{{{total}}}</td></tr></table>",
  "<ul><li>{{{plan}}}</li><li>{{{CODE}}}</li></ul>",
  "<p>é ü 你好 {{{name}}} 🎉</p>",
  '<p data-a="{{{plan}}}" data-b="{{{CODE}}}"></p>',
  "<pre>  {{{note}}}\n   {{{name}}}\n</pre>",
  "<p>Your plan is {{{plan}}}; it costs {{{ORDER_TOTAL}}}.</p>",
  "<a href='mailto:{{{EMAIL}}}'>{{{EMAIL}}}</a>",
  `<!DOCTYPE html>
<html>
  <body>
    <h1>Welcome, {{{FIRST_NAME}}}!</h1>
    <p>{{{note}}}</p>
    <a href="{{{url}}}">Begin</a>
  </body>
</html>
`,
]
