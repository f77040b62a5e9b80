import * as Deadline from "@waybill/templates/language/Deadline"
import * as Liquid from "@waybill/templates/language/Liquid"
import type { Translated } from "@waybill/templates/translate/LiquidWriter"
import { assert } from "../../support/effectTest.ts"

/** Renders a translation that has no problems. */
export const renderTranslated = (
  { liquid, problems }: Translated,
  variables: object,
  form: Liquid.Form = "html",
): string => {
  assert.deepStrictEqual(problems, [])
  assert.deepStrictEqual(Liquid.problemsOf(form, liquid), [], liquid)
  const rendered = Liquid.render(
    Liquid.compile(form, liquid, {}),
    variables,
    { locale: "en", time_zone: "UTC" },
    Deadline.within(1_000),
  )
  return "text" in rendered ? rendered.text : assert.fail(rendered.problem.message)
}
