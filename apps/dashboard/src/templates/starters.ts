import type { ListedTemplate } from "../api/Records.ts"

const RECEIPT_HTML = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="color-scheme" content="light dark">
    <style>
      body { margin: 0; padding: 24px; font: 16px/1.5 sans-serif; background: #ffffff; color: #1a1a1c }
      table { width: 100%; border-collapse: collapse }
      td { padding: 8px 0; border-bottom: 1px solid #dddddd }
      td:last-child { text-align: right }
      @media (prefers-color-scheme: dark) {
        body { background: #161618; color: #ededee }
        td { border-color: #37373d }
      }
    </style>
  </head>
  <body>
    <h1>Thank you, {{ name }}</h1>
    <p>Your order {{ order.number }} has {{ order.items | size | plural: one: "# item", other: "# items" }}.</p>
    <table>
      {% for item in order.items %}
      <tr><td>{{ item.name }}</td><td>{{ item.price | money: "EUR" }}</td></tr>
      {% endfor %}
      <tr><td><strong>Total</strong></td><td><strong>{{ order.total | money: "EUR" }}</strong></td></tr>
    </table>
    <p><a href="{{ order.url }}">View your order</a></p>
  </body>
</html>
`

const RECEIPT_TEXT = `Thank you, {{ name }}

Your order {{ order.number }}:
{% for item in order.items -%}
- {{ item.name }}: {{ item.price | money: "EUR" }}
{% endfor %}
Total: {{ order.total | money: "EUR" }}

View your order: {{ order.url }}
`

const RECEIPT = {
  subject: "Your order {{ order.number }}",
  preheader: "We pack it today, and tell you when it leaves.",
  html: RECEIPT_HTML,
  text: RECEIPT_TEXT,
  variables: {
    type: "object",
    required: ["name", "order"],
    properties: {
      name: { type: "string" },
      order: {
        type: "object",
        required: ["number", "items", "total", "url"],
        properties: {
          number: { type: "string" },
          items: {
            type: "array",
            items: {
              type: "object",
              required: ["name", "price"],
              properties: { name: { type: "string" }, price: { type: "number" } },
            },
          },
          total: { type: "number" },
          url: { type: "string", format: "uri" },
        },
      },
    },
  },
}

const LAYOUT = {
  html: `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <style>
      body { margin: 0; padding: 24px; font: 16px/1.5 sans-serif; color: #1a1a1c }
      footer { margin-top: 32px; font-size: 12px; color: #6c6c72 }
    </style>
  </head>
  <body>
    {{ content }}
    <footer>Acme Ltd., 1 Main Street, Springfield</footer>
  </body>
</html>
`,
  text: "{{ content }}\n\n-- \nAcme Ltd., 1 Main Street, Springfield\n",
}

const PARTIAL = {
  html: `<p><a href="{{ url }}" style="padding: 10px 16px; background: #1c1c1f; color: #ffffff">{{ label }}</a></p>\n`,
  text: "{{ label }}: {{ url }}\n",
}

/** Sources to begin with: an example of each kind that shows what the language can do. */
export const STARTERS: { readonly [K in ListedTemplate["kind"]]: object } = {
  template: RECEIPT,
  layout: LAYOUT,
  partial: PARTIAL,
}
