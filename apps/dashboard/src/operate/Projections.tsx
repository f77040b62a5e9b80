import { useMutation, useQueryClient } from "@tanstack/react-query"
import type * as Operate from "@waybill/api/Operate"
import { useState } from "react"
import { post } from "../api/request.ts"
import { Badge, State } from "../ui/Badge.tsx"
import { Button } from "../ui/Button.tsx"
import { cx } from "../ui/cx.ts"
import { Confirm } from "../ui/Dialog.tsx"
import { size } from "../ui/size.ts"
import { Panel, Screen } from "../ui/Surface.tsx"
import { complain, say } from "../ui/Toasts.tsx"
import { Loaded } from "./Loaded.tsx"
import { projections } from "./queries.ts"

const number = new Intl.NumberFormat()

export const Projections = () => (
  <Screen
    title="Projections"
    hint="What is read is folded from the log. It can be folded anew beside the live one, compared, and swapped in."
  >
    <Loaded options={projections}>
      {({ jobs, versions }) => {
        const names = [...new Set(versions.map(({ name }) => name))]
        return names.map((name) => (
          <One
            key={name}
            name={name}
            versions={versions.filter((each) => each.name === name)}
            job={jobs.find((each) => each.name === name)}
          />
        ))
      }}
    </Loaded>
  </Screen>
)

interface Props {
  readonly name: string
  readonly versions: ReadonlyArray<Operate.ProjectionVersion>
  readonly job: Operate.ProjectionJob | undefined
}

const One = ({ job, name, versions }: Props) => {
  const client = useQueryClient()
  const [swapping, setSwapping] = useState(false)
  const refresh = () => client.invalidateQueries({ queryKey: projections.queryKey })
  const begin = useMutation({
    mutationFn: (kind: Operate.ProjectionJob["kind"]) => post(`/operate/projections/${name}/${kind}`),
    onSettled: refresh,
    onError: complain,
  })
  const isWorking = job !== undefined && job.ended === null
  const isFollowing = versions.some(({ state }) => state === "following")
  const isReady = versions.some(({ state }) => state === "ready")
  return (
    <Panel
      title={<code className="font-mono">{name}</code>}
      actions={
        isFollowing ? (
          <Badge>follows the log</Badge>
        ) : (
          <>
            {isReady ? (
              <Button small look="solid" onClick={() => setSwapping(true)}>
                Swap in
              </Button>
            ) : undefined}
            <Button small disabled={isWorking} onClick={() => begin.mutate("verify")}>
              Verify
            </Button>
            <Button small disabled={isWorking} onClick={() => begin.mutate("rebuild")}>
              Rebuild
            </Button>
          </>
        )
      }
    >
      <ul className="divide-y divide-line">
        {versions.map(({ behind, rows, size_bytes, state, version }) => (
          <li key={version} className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-2.5 text-sm">
            <span className="w-20 font-medium">Version {version}</span>
            <State state={state} />
            <span className="grow" />
            <span className="tabular text-xs text-ink-3">
              {behind > 0 ? `${number.format(behind)} events behind · ` : ""}
              about {number.format(rows)} rows · {size(size_bytes)}
            </span>
          </li>
        ))}
      </ul>
      {job === undefined ? undefined : <Job job={job} />}
      <Confirm
        open={swapping}
        onOpenChange={setSwapping}
        title={`Swap ${name}?`}
        action="Swap it in"
        onConfirm={async () => {
          await post(`/operate/projections/${name}/swap`, { back: false })
          await refresh()
          say(`The new version of ${name} is live.`, () => {
            post(`/operate/projections/${name}/swap`, { back: true }).then(refresh, complain)
          })
        }}
      >
        The version that is ready becomes the live one in one short transaction. The live one of now is kept.
      </Confirm>
    </Panel>
  )
}

const WORDS = { rebuild: "Rebuild", verify: "Comparison" } as const

const Job = ({ job }: { readonly job: Operate.ProjectionJob }) => {
  const { ended, eta_seconds, events, kind, phase, total } = job
  const share = ended !== null || phase !== "folding" || total === 0 ? 1 : Math.min(1, events / total)
  return (
    <div className="border-t border-line px-4 py-3">
      <p role="status" className="flex flex-wrap items-baseline gap-x-3 text-sm">
        <span className="font-medium">{WORDS[kind]}</span>
        <span
          className={cx("min-w-0 break-words", ended === null ? "text-ink-2" : ended.good ? "text-good" : "text-bad")}
        >
          {ended === null ? phase : ended.said}
        </span>
        {ended !== null ? undefined : (
          <span className="tabular ml-auto text-xs text-ink-3">
            {number.format(events)} of {number.format(total)} events
            {eta_seconds === null ? "" : `, ${eta_seconds} s to go`}
          </span>
        )}
      </p>
      {ended !== null ? undefined : (
        <div
          role="progressbar"
          aria-label={`${WORDS[kind]} of ${job.name}`}
          aria-valuenow={Math.round(share * 100)}
          aria-valuemin={0}
          aria-valuemax={100}
          className="mt-2 h-1.5 overflow-hidden rounded-full bg-hover"
        >
          <div className="h-full rounded-full bg-accent" style={{ width: `${share * 100}%` }} />
        </div>
      )}
    </div>
  )
}
