import { cx } from "../../ui/display/cx.ts"
import { UntrustedText } from "../../ui/display/UntrustedText.tsx"
import * as Form from "../content/Form.ts"
import * as Problems from "../content/Problems.ts"

interface Props {
  readonly label: string
  readonly tone: "bad" | "warn" | "note"
  readonly problems: ReadonlyArray<Problems.TextProblem>
  /** Shows the text with the problem, where that is possible. */
  readonly onOpen?: ((problem: Problems.TextProblem) => void) | undefined
}

const TONES = { bad: "bg-bad-soft text-bad", warn: "bg-warn-soft text-warn", note: "text-ink-3 text-xs" }

/** Problems or warnings, each with its place, which it opens. */
export const ProblemList = ({ label, onOpen, problems, tone }: Props) =>
  problems.length === 0 ? undefined : (
    <ul aria-label={label} className={cx("flex flex-col gap-1 border-b border-line px-4 py-2.5 text-sm", TONES[tone])}>
      {problems.map((problem, index) => (
        <li key={index} className="break-words">
          {problem.path === "" ? undefined : onOpen === undefined ? (
            <strong className="font-medium">{placeOf(problem)} </strong>
          ) : (
            <>
              <button
                type="button"
                className="rounded-sm text-left font-medium underline underline-offset-2"
                onClick={() => onOpen(problem)}
              >
                {placeOf(problem)}
              </button>{" "}
            </>
          )}
          <UntrustedText text={Problems.sentence(problem.message)} />
        </li>
      ))}
    </ul>
  )

const placeOf = ({ column, line, path }: Problems.TextProblem): string => {
  const name = path === Problems.SAMPLE ? "Sample values" : Form.labelOf(path)
  return `${name}${line === undefined ? "" : `, line ${line}, column ${column ?? 1}`}:`
}
