/** A template of a shop, and a message that is made of it. */
export const RECEIPT = {
  name: "Receipt",
  alias: "receipt",
  subject: "Your order {{ order.id }}",
  html: '<h1>Thank you, {{ name }}</h1><a href="{{ link }}">{{ total | money: "EUR" }}</a>',
  variables: {
    type: "object",
    required: ["name", "order"],
    properties: {
      name: { type: "string" },
      link: { type: "string", default: "https://shop.test/" },
      order: { type: "object", properties: { id: { type: "integer" } }, required: ["id"] },
      total: { type: "number", default: 0 },
    },
  },
  locales: { de: { subject: "Bestellung {{ order.id }}" } },
}
export const MAIL = { from: "hello@shop.test", to: "ana@example.org" }
export const VARIABLES = { name: "Ana & Bo", order: { id: 7 }, total: 12.5 }
