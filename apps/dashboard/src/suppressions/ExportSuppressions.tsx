import type { SuppressionFilters } from "../api/Queries.ts"
import { ExportProgress } from "../ui/feedback/ExportProgress.tsx"
import * as SuppressionTransfer from "./SuppressionTransfer.ts"

interface Props {
  readonly filters: SuppressionFilters
  readonly onDone: () => void
}

/** Exports the suppressions of the current filters to a CSV file. */
export const ExportSuppressions = ({ filters, onDone }: Props) => (
  <ExportProgress
    fileName="suppressions.csv"
    counted={SuppressionTransfer.addressCount}
    read={(signal, onProgress) => SuppressionTransfer.write(filters, signal, onProgress)}
    onDone={onDone}
  />
)
