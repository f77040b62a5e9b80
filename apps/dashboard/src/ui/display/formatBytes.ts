const KILO = 1_024

export const formatBytes = (bytes: number): string =>
  bytes < KILO
    ? `${bytes} B`
    : bytes < KILO * KILO
      ? `${(bytes / KILO).toFixed(1)} KB`
      : `${(bytes / KILO / KILO).toFixed(1)} MB`
