import * as DatabaseUrl from "@waybill/store/postgres/DatabaseUrl"
import { assert, describe, it } from "../../support/effectTest.ts"

const problemOf = (rest: string) =>
  DatabaseUrl.cellProblemOf(`postgres://waybill:secret@db2.internal:5432/waybill${rest}`)

describe("the address of a cell", () => {
  it("may have each parameter that both drivers follow", () => {
    for (const rest of [
      "",
      "?sslmode=verify-full",
      "?host=%2Frun%2Fpostgres&port=5433&options=-c%20work_mem%3D8MB&sslmode=disable",
      "?host=/run/postgres&",
    ])
      assert.isUndefined(problemOf(rest), rest)
  })

  it("is refused by the name of a parameter that would be passed over, so that no connection lacks TLS by mistake", () => {
    for (const [rest, ...words] of [
      ["?SSLMODE=verify-full", "parameter SSLMODE", "mean sslmode?"],
      ["?sslmod=verify-full", "parameter sslmod,", "mean sslmode?"],
      ["?ss%6Cmode=verify-full", "a parameter", "The parameters are host, port, sslmode, options"],
      ["?tls=require", "parameter tls", "mean sslmode?"],
      ["?prot=5433", "parameter prot", "mean port?"],
      ["?sslrootcert=/ca.pem", "parameter sslrootcert", "NODE_EXTRA_CA_CERTS"],
      ["?amp;sslmode=verify-full", "a parameter", "mean sslmode?"],
      ["?application_name=x", "parameter application_name"],
      ["?application_name=x;sslmode=verify-full", "parameter application_name"],
      ["?sslmode=verify-full&sslmode=disable", "sslmode twice"],
      ["?host=/one&host=/two", "host twice"],
      ["?sslmode=verify-full;x=1", "sslmode must be one of"],
      ["?options=-c%20a.b=c;sslmode=verify-full", "value of options", "Write & between"],
      ["?options=-c%20a.b=c%3Bsslmode=verify-full", "value of options"],
      ["#sslmode=verify-full", "has a #"],
      ["?sslmode=verify-full#", "has a #"],
    ] as const)
      for (const word of words) assert.include(problemOf(rest) ?? "", word, rest)
  })

  it("is refused without a word of a password that holds special characters", () => {
    for (const url of ["postgres://u:12?xyz&cd@h/d", "postgres://u:1#xyz@h/d", "postgres://u:p@ss?xyz&cd@h/d"]) {
      const problem = DatabaseUrl.cellProblemOf(url) ?? ""
      assert.include(problem, "Percent-encode")
      assert.notInclude(problem, "xyz")
    }
  })
})
