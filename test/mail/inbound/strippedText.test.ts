import { strippedText } from "@waybill/mail/inbound/strippedText"
import { assert, describe, it } from "../../support/effectTest.ts"
import { processorMs } from "../../support/processorMs.ts"

const OWN = "Thank you, that works.\n\nSee you on Monday: 10 o'clock?"
const quoted = (lines: ReadonlyArray<string>) => lines.map((line) => `> ${line}`).join("\n")
const QUOTE = ["Hello Ana,", "", "does it work now?", "Acme"]

/** The line that Gmail, Apple Mail and Thunderbird write above a quote, and the header that Outlook writes, by language. */
const LANGUAGES: Readonly<
  Record<string, { readonly lines: ReadonlyArray<string>; readonly header: ReadonlyArray<string> }>
> = {
  English: {
    lines: [
      "On Mon, Nov 23, 2026 at 10:12 AM Acme <hi@acme.test> wrote:",
      "On 23 Nov 2026, at 10:12, Acme <hi@acme.test> wrote:",
      "On 23/11/2026 10:12, Acme wrote:",
    ],
    header: ["From: Acme <hi@acme.test>", "Sent: Monday, November 23, 2026 10:12", "To: Ana", "Subject: Your order"],
  },
  German: {
    lines: [
      "Am Mo., 23. Nov. 2026 um 10:12 Uhr schrieb Acme <hi@acme.test>:",
      "Am 23.11.2026 um 10:12 schrieb Acme <hi@acme.test>:",
      "Am 23.11.26 um 10:12 schrieb Acme:",
    ],
    header: ["Von: Acme <hi@acme.test>", "Gesendet: Montag, 23. November 2026 10:12", "An: Ana", "Betreff: Bestellung"],
  },
  French: {
    lines: [
      "Le lun. 23 nov. 2026 à 10:12, Acme <hi@acme.test> a écrit :",
      "Le 23 nov. 2026 à 10:12, Acme <hi@acme.test> a écrit :",
      "Le 23/11/2026 à 10:12, Acme a écrit :",
    ],
    header: ["De : Acme <hi@acme.test>", "Envoyé : lundi 23 novembre 2026 10:12", "À : Ana", "Objet : Commande"],
  },
  Spanish: {
    lines: [
      "El lun, 23 nov 2026 a las 10:12, Acme (<hi@acme.test>) escribió:",
      "El 23 nov 2026, a las 10:12, Acme <hi@acme.test> escribió:",
      "El 23/11/2026 a las 10:12, Acme escribió:",
    ],
    header: ["De: Acme <hi@acme.test>", "Enviado: lunes, 23 de noviembre de 2026 10:12", "Para: Ana", "Asunto: Pedido"],
  },
  Italian: {
    lines: [
      "Il giorno lun 23 nov 2026 alle ore 10:12 Acme <hi@acme.test> ha scritto:",
      "Il giorno 23 nov 2026, alle ore 10:12, Acme <hi@acme.test> ha scritto:",
      "Il 23/11/2026 10:12, Acme ha scritto:",
    ],
    header: ["Da: Acme <hi@acme.test>", "Inviato: lunedì 23 novembre 2026 10:12", "A: Ana", "Oggetto: Ordine"],
  },
  Portuguese: {
    lines: [
      "Em seg., 23 de nov. de 2026 às 10:12, Acme <hi@acme.test> escreveu:",
      "No dia 23/11/2026, às 10:12, Acme <hi@acme.test> escreveu:",
      "Em 23/11/2026 10:12, Acme escreveu:",
    ],
    header: ["De: Acme <hi@acme.test>", "Enviado: 23 de novembro de 2026 10:12", "Para: Ana", "Assunto: Pedido"],
  },
  Dutch: {
    lines: [
      "Op ma 23 nov 2026 om 10:12 schreef Acme <hi@acme.test>:",
      "Op 23 nov. 2026 om 10:12 heeft Acme <hi@acme.test> het volgende geschreven:",
      "Op 23-11-2026 10:12 schreef Acme:",
    ],
    header: ["Van: Acme <hi@acme.test>", "Verzonden: maandag 23 november 2026 10:12", "Aan: Ana", "Onderwerp: Order"],
  },
  Swedish: {
    lines: [
      "Den mån 23 nov. 2026 kl 10:12 skrev Acme <hi@acme.test>:",
      "23 nov. 2026 kl. 10:12 skrev Acme <hi@acme.test>:",
      "Den 2026-11-23 kl. 10:12, skrev Acme:",
    ],
    header: ["Från: Acme <hi@acme.test>", "Skickat: den 23 november 2026 10:12", "Till: Ana", "Ämne: Order"],
  },
  Polish: {
    lines: [
      "pon., 23 lis 2026 o 10:12 Acme <hi@acme.test> napisał(a):",
      "Wiadomość napisana przez Acme <hi@acme.test> w dniu 23.11.2026, o godz. 10:12:",
      "W dniu 23.11.2026 o 10:12, Acme napisał:",
    ],
    header: ["Od: Acme <hi@acme.test>", "Wysłano: 23 listopada 2026 10:12", "Do: Ana", "Temat: Zamówienie"],
  },
  Russian: {
    lines: [
      "пн, 23 нояб. 2026 г. в 10:12, Acme <hi@acme.test>:",
      "23 нояб. 2026 г., в 10:12, Acme <hi@acme.test> написал(а):",
      "23.11.2026 10:12, Acme пишет:",
    ],
    header: ["От: Acme <hi@acme.test>", "Отправлено: 23 ноября 2026 г. 10:12", "Кому: Ana", "Тема: Заказ"],
  },
  Chinese: {
    lines: [
      "Acme <hi@acme.test> 于2026年11月23日周一 10:12写道：",
      "2026年11月23日 10:12，Acme <hi@acme.test> 写道：",
      "在 2026/11/23 10:12, Acme 写道:",
    ],
    header: ["发件人: Acme <hi@acme.test>", "发送时间: 2026年11月23日 10:12", "收件人: Ana", "主题: 订单"],
  },
  Japanese: {
    lines: [
      "2026年11月23日(月) 10:12 Acme <hi@acme.test>:",
      "2026/11/23 10:12、Acme <hi@acme.test>のメール:",
      "2026/11/23 10:12 に Acme さんは書きました:",
    ],
    header: ["差出人: Acme <hi@acme.test>", "送信日時: 2026年11月23日 10:12", "宛先: Ana", "件名: 注文"],
  },
}

describe("the text that somebody wrote in a reply", () => {
  for (const [language, { header, lines }] of Object.entries(LANGUAGES)) {
    for (const [nth, line] of lines.entries())
      it(`stands above the quote: ${language}, form ${nth + 1}`, () => {
        assert.strictEqual(strippedText(`${OWN}\n\n${line}\n\n${quoted(QUOTE)}\n`), OWN)
      })
    it(`stands above the header of the quote: ${language}`, () => {
      assert.strictEqual(strippedText(`${OWN}\r\n\r\n${header.join("\r\n")}\r\n\r\n${QUOTE.join("\r\n")}\r\n`), OWN)
    })
    it(`stands below the quote: ${language}`, () => {
      assert.strictEqual(strippedText(`${lines[0]}\n${quoted(QUOTE)}\n\n${OWN}\n`), OWN)
    })
  }

  it("ends before a signature, and before what a phone adds", () => {
    assert.strictEqual(strippedText(`${OWN}\n-- \nAna\nExample Ltd.\n`), OWN)
    for (const phone of [
      "Sent from my iPhone",
      "Von meinem iPhone gesendet",
      "Envoyé de mon iPhone",
      "Get Outlook for iOS",
    ])
      assert.strictEqual(strippedText(`${OWN}\n\n${phone}\n`), OWN, phone)
  })

  it("ends before a line folded over several, a separator and a rule", () => {
    const folded =
      "On Mon, Nov 23, 2026 at 10:12 AM A very long name of a company\n<a.very.long.address@acme.test> wrote:"
    assert.strictEqual(strippedText(`${OWN}\n\n${folded}\n${quoted(QUOTE)}`), OWN)
    assert.strictEqual(strippedText(`${OWN}\n\n-----Original Message-----\nFrom: Acme\n\nHello`), OWN)
    const header = LANGUAGES["English"]?.header.join("\n") ?? ""
    assert.strictEqual(strippedText(`${OWN}\n________________________________\n${header}\n\nHello`), OWN)
  })

  it("is the whole of a text without a quote", () => {
    for (const text of [OWN, "She wrote: no.", "From: here to there", "> all\n> quoted", "On Monday I wrote:\nnothing"])
      assert.strictEqual(strippedText(text), text)
    assert.strictEqual(strippedText("  \n"), "")
  })

  it("is found in time that grows with the text", () => {
    const pieces = ["\n", "On ", "> ", "From: a\n", "On x\n", "<", "-", "_", "a@b.c wrote: ", "Am 1 schrieb \n", " "]
    for (const piece of pieces) {
      const timeOf = (length: number) => {
        const text = piece.repeat(Math.ceil(length / piece.length))
        const start = processorMs()
        strippedText(text)
        return processorMs() - start
      }
      timeOf(50_000)
      const [one, eight] = [Math.min(timeOf(50_000), timeOf(50_000)), timeOf(400_000)]
      assert.isBelow(eight, 8 * 8 * (one + 1), JSON.stringify(piece))
    }
  })
})
