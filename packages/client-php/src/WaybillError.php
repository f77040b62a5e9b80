<?php

declare(strict_types=1);

namespace Waybill;

/**
 * A refusal by the API, or a failure to reach it.
 *
 * @phpstan-import-type ErrorDetail from Types
 */
final class WaybillError extends \RuntimeException
{
    /**
     * @param string $errorCode One of the seven codes of the API, or a code of the client: `connection_failed` if there
     *     was no response, `bad_answer` if the response was not from the API, `invalid_key`
     * @param string|null $reason The specific cause
     * @param int $status HTTP status; 0 without a response
     * @param string|null $requestId Include this id in support requests
     * @param list<ErrorDetail> $details
     * @param float|null $retryAfter Seconds to wait after a 429 or 503
     */
    public function __construct(
        public readonly string $errorCode,
        string $message,
        public readonly ?string $reason = null,
        public readonly int $status = 0,
        public readonly ?string $requestId = null,
        public readonly array $details = [],
        public readonly ?float $retryAfter = null,
    ) {
        parent::__construct($message);
    }

    /** Returns the refusal of a value that the client checks, in the form of the API's refusals. */
    public static function invalid(string $path, string $message): self
    {
        $details = [['path' => $path, 'message' => $message]];
        return new self('invalid_request', "`$path` $message.", 'validation_failed', details: $details);
    }
}
