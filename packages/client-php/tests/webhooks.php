<?php

declare(strict_types=1);

use Waybill\Webhook;

$calls = json_decode((string) getenv('WAYBILL_TEST_WEBHOOK'), true);
$verify = function (
    string $name,
    string|array|null $secret = null,
    string $body = '',
    array $change = [],
) use ($calls): array {
    $headers = [
        'Webhook-Id' => $calls['id'],
        'Webhook-Timestamp' => $calls['timestamp'],
        'webhook-signature' => [$calls['signatures'][$name]],
    ];
    $text = $body === '' ? $calls['body'] : $body;
    return Webhook::verify($text, [...$headers, ...$change], $secret ?? $calls['secret']);
};

return [
    'a valid webhook call' => function () use ($calls, $verify): void {
        $event = $verify('valid');
        equal(['email.delivered', ['subject' => 'Grüße']], [$event['type'], $event['data']]);
        $server = [
            'REQUEST_TIME' => 1,
            'HTTP_WEBHOOK_ID' => $calls['id'],
            'HTTP_WEBHOOK_TIMESTAMP' => $calls['timestamp'],
            'HTTP_WEBHOOK_SIGNATURE' => $calls['signatures']['valid'],
        ];
        equal($event, Webhook::verify($calls['body'], $server, $calls['secret']));
    },
    'both secrets during a rotation' => function () use ($calls, $verify): void {
        foreach ([$calls['secret'], $calls['other'], ['whsec_b3RoZXI=', $calls['other']]] as $secret) {
            equal($calls['id'], $verify('rotated', $secret)['id']);
        }
    },
    'webhook calls that are refused' => function () use ($calls, $verify): void {
        $refusals = [
            fn () => $verify('valid', body: $calls['body'] . ' '),
            fn () => $verify('valid', $calls['other']),
            fn () => $verify('valid', []),
            fn () => $verify('valid', 'whsec_*'),
            fn () => $verify('unsigned'),
            fn () => $verify('empty', ''),
            fn () => $verify('empty', 'whsec_'),
            fn () => $verify('valid', change: ['Webhook-Id' => '']),
            fn () => $verify('valid', change: ['Webhook-Timestamp' => 'yesterday']),
            fn () => $verify('old', change: ['Webhook-Timestamp' => $calls['old_timestamp']]),
            fn () => Webhook::verify($calls['body'], [], $calls['secret']),
        ];
        foreach ($refusals as $call) {
            $refusal = refused($call);
            equal(['unauthorized', 'webhook_not_verified'], [$refusal->errorCode, $refusal->reason]);
        }
    },
];
