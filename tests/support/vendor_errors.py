"""Refusals in each vendor's words, and what they mean."""

from __future__ import annotations

from typing import Any

from openclaw_core.sdk import ErrorKind as K


def openai(message: str, code: Any = None, kind: str | None = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


ERRORS: list[tuple[str, int, Any, K]] = [
    ("deepseek", 402, openai("Insufficient Balance", "invalid_request_error", "unknown_error"), K.BILLING),
    (
        "deepseek",
        401,
        openai("Authentication Fails, Your api key: ****1234 is invalid", "invalid_request_error"),
        K.AUTH,
    ),
    (
        "deepseek",
        400,
        openai("This model's maximum context length is 131072 tokens.", "invalid_request_error"),
        K.CONTEXT_OVERFLOW,
    ),
    ("deepseek", 503, openai("Service is too busy.", "service_unavailable_error"), K.OVERLOADED),
    ("deepseek", 400, openai("The reasoning_content in the thinking mode must be passed back to the API."), K.FORMAT),
    ("mistral", 401, {"detail": "Unauthorized"}, K.AUTH),
    (
        "mistral",
        429,
        {
            "object": "error",
            "message": "Service tier capacity exceeded for this model.",
            "type": "service_tier_capacity_exceeded",
            "code": "3505",
        },
        K.OVERLOADED,
    ),
    ("mistral", 429, {"message": "Requests rate limit exceeded"}, K.RATE_LIMIT),
    (
        "mistral",
        400,
        {"object": "error", "message": "Invalid model: mistral-huge", "type": "invalid_model", "code": "1500"},
        K.MODEL_NOT_FOUND,
    ),
    (
        "mistral",
        400,
        {
            "object": "error",
            "message": "Unexpected role 'user' after role 'tool'",
            "type": "invalid_request_message_order",
            "code": "3230",
        },
        K.FORMAT,
    ),
    (
        "mistral",
        400,
        {
            "message": "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length"
        },
        K.CONTEXT_OVERFLOW,
    ),
    ("groq", 401, openai("Invalid API Key", "invalid_api_key", "invalid_request_error"), K.AUTH_PERMANENT),
    (
        "groq",
        413,
        openai(
            "Request too large for model `x` on tokens per minute (TPM): Limit 8000, Requested 9000",
            "rate_limit_exceeded",
            "tokens",
        ),
        K.RATE_LIMIT,
    ),
    ("groq", 400, openai("The model `x` has been decommissioned", "model_decommissioned"), K.MODEL_NOT_FOUND),
    ("groq", 503, openai("x is currently over capacity. Please try again"), K.OVERLOADED),
    (
        "groq",
        400,
        openai("Please reduce the length of the messages or completion.", "context_length_exceeded"),
        K.CONTEXT_OVERFLOW,
    ),
    (
        "xai",
        400,
        {"code": "Client specified an invalid argument", "error": "Incorrect API key provided: xa***bc."},
        K.AUTH,
    ),
    (
        "xai",
        403,
        {
            "code": "The caller does not have permission",
            "error": "Your newly created team doesn't have any credits or licenses yet.",
        },
        K.BILLING,
    ),
    (
        "xai",
        429,
        {
            "code": "Some resource has been exhausted",
            "error": "Your team has either used all available credits or reached its monthly spending limit.",
        },
        K.BILLING,
    ),
    (
        "xai",
        400,
        {"error": "This model's maximum prompt length is 131072 but the request contains 537812 tokens."},
        K.CONTEXT_OVERFLOW,
    ),
    (
        "xai",
        404,
        {"error": "The model grok-9 does not exist or your team does not have access to it."},
        K.MODEL_NOT_FOUND,
    ),
    (
        "openrouter",
        402,
        {"error": {"code": 402, "message": "This request requires more credits, or fewer max_tokens."}},
        K.BILLING,
    ),
    ("openrouter", 403, {"error": {"code": 403, "message": "Key limit exceeded (total limit)."}}, K.BILLING),
    (
        "openrouter",
        403,
        {
            "error": {
                "code": 403,
                "message": 'x requires moderation on OpenRouter. Your input was flagged for "violence".',
            }
        },
        K.FORMAT,
    ),
    ("openrouter", 429, {"error": {"code": 429, "message": "Rate limit exceeded: free-models-per-day"}}, K.RATE_LIMIT),
    (
        "openrouter",
        404,
        {"error": {"code": 404, "message": "No endpoints found that support tool use."}},
        K.MODEL_NOT_FOUND,
    ),
    ("openrouter", 400, {"error": {"code": 400, "message": "foo/bar is not a valid model ID"}}, K.MODEL_NOT_FOUND),
    (
        "openrouter",
        502,
        {
            "error": {
                "code": 502,
                "message": "Provider returned error",
                "metadata": {"raw": "Overloaded", "provider_name": "Anthropic"},
            }
        },
        K.OVERLOADED,
    ),
    (
        "together",
        422,
        openai(
            "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000",
            None,
            "invalid_request_error",
        ),
        K.CONTEXT_OVERFLOW,
    ),
    ("together", 402, openai("You've exceeded your credit limit.", "credit_limit"), K.BILLING),
    (
        "together",
        404,
        openai("Unable to access model x. Please visit the list of models.", "model_not_available"),
        K.MODEL_NOT_FOUND,
    ),
    (
        "fireworks",
        412,
        openai("Account a is suspended, possibly due to reaching the monthly spending limit."),
        K.BILLING,
    ),
    (
        "fireworks",
        400,
        openai("The prompt is too long: 140000, model maximum context length: 131071"),
        K.CONTEXT_OVERFLOW,
    ),
    ("fireworks", 404, openai("Model not found, inaccessible, and/or not deployed", "NOT_FOUND"), K.MODEL_NOT_FOUND),
    (
        "cerebras",
        429,
        {
            "message": "Requests per minute limit exceeded",
            "type": "too_many_requests_error",
            "param": "quota",
            "code": "request_quota_exceeded",
        },
        K.RATE_LIMIT,
    ),
    (
        "cerebras",
        429,
        {
            "message": "We're experiencing high traffic right now!",
            "type": "too_many_requests_error",
            "param": "queue",
            "code": "queue_exceeded",
        },
        K.OVERLOADED,
    ),
    ("cerebras", 401, {"message": "Wrong API Key", "type": "invalid_request_error", "code": "wrong_api_key"}, K.AUTH),
    (
        "cerebras",
        400,
        {"message": "Please reduce the length of the messages or completion.", "code": "context_length_exceeded"},
        K.CONTEXT_OVERFLOW,
    ),
    (
        "moonshot",
        429,
        openai(
            "Your account is suspended, please check your plan and billing details",
            None,
            "exceeded_current_quota_error",
        ),
        K.BILLING,
    ),
    (
        "moonshot",
        429,
        openai("The engine is currently overloaded, please try again later", None, "engine_overloaded_error"),
        K.OVERLOADED,
    ),
    (
        "moonshot",
        429,
        openai("request reached max request per minute: 3", None, "rate_limit_reached_error"),
        K.RATE_LIMIT,
    ),
    (
        "moonshot",
        400,
        openai("Invalid request: Your request exceeded model token limit: 131072", None, "invalid_request_error"),
        K.CONTEXT_OVERFLOW,
    ),
    (
        "moonshot",
        404,
        openai("Not found the model kimi-x or Permission denied", None, "resource_not_found_error"),
        K.MODEL_NOT_FOUND,
    ),
    ("moonshot", 401, openai("Invalid Authentication", None, "invalid_authentication_error"), K.AUTH),
    (
        "qwen",
        400,
        openai(
            "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]",
            "invalid_parameter_error",
        ),
        K.CONTEXT_OVERFLOW,
    ),
    (
        "qwen",
        400,
        openai("Access denied, please make sure your account is in good standing.", "Arrearage", "Arrearage"),
        K.BILLING,
    ),
    (
        "qwen",
        429,
        openai(
            "Allocated quota exceeded, please increase your quota limit.", "insufficient_quota", "insufficient_quota"
        ),
        K.RATE_LIMIT,
    ),
    ("qwen", 401, openai("Incorrect API key provided.", "invalid_api_key"), K.AUTH_PERMANENT),
    (
        "qwen",
        404,
        openai("The model `qwen-x` does not exist or you do not have access to it.", "model_not_found"),
        K.MODEL_NOT_FOUND,
    ),
    ("zai", 429, openai("Insufficient balance or no resource package. Please recharge.", "1113"), K.BILLING),
    ("zai", 429, openai("Rate limit reached for requests", "1302"), K.RATE_LIMIT),
    ("zai", 400, openai("Prompt exceeds max length", "1261"), K.CONTEXT_OVERFLOW),
    ("zai", 400, openai("Unknown Model, please check the model code.", "1211"), K.MODEL_NOT_FOUND),
    ("zai", 401, openai("token expired or incorrect", "401"), K.AUTH),
    (
        "minimax",
        200,
        {"base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}, "choices": None},
        K.BILLING,
    ),
    ("minimax", 200, {"base_resp": {"status_code": 1002, "status_msg": "rate limit"}}, K.RATE_LIMIT),
    (
        "minimax",
        400,
        openai("invalid params, context window exceeds limit (2013)", None, "bad_request_error"),
        K.CONTEXT_OVERFLOW,
    ),
    (
        "nvidia",
        404,
        {"status": 404, "title": "Not Found", "detail": "Function 'x': Not found for account 'y'"},
        K.MODEL_NOT_FOUND,
    ),
    ("nvidia", 402, {"detail": "Cloud credits expired - Please contact NVIDIA representatives"}, K.BILLING),
    ("nvidia", 429, {"status": 429, "title": "Too Many Requests"}, K.RATE_LIMIT),
    (
        "huggingface",
        402,
        {"error": "You have exceeded your monthly included credits for Inference Providers."},
        K.BILLING,
    ),
    ("huggingface", 401, {"error": "Invalid username or password."}, K.AUTH),
    (
        "huggingface",
        400,
        openai(
            "The requested model 'Qwen/Qwen2.5-x' is not supported by any provider you have enabled.",
            "model_not_supported",
        ),
        K.MODEL_NOT_FOUND,
    ),
    (
        "azure-openai",
        401,
        openai("Access denied due to invalid subscription key or wrong API endpoint.", "401"),
        K.AUTH,
    ),
    (
        "azure-openai",
        404,
        openai("The API deployment for this resource does not exist.", "DeploymentNotFound"),
        K.MODEL_NOT_FOUND,
    ),
    (
        "azure-openai",
        429,
        openai(
            "Requests have exceeded token rate limit of your current pricing tier. Please retry after 6 seconds.", "429"
        ),
        K.RATE_LIMIT,
    ),
    (
        "azure-openai",
        400,
        openai(
            "The response was filtered due to the prompt triggering the content management policy.", "content_filter"
        ),
        K.FORMAT,
    ),
    ("ollama", 404, openai("model 'qwen9' not found", None, "not_found_error"), K.MODEL_NOT_FOUND),
    ("ollama", 400, openai("registry.ollama.ai/library/gemma:2b does not support tools", None, "api_error"), K.FORMAT),
    (
        "lmstudio",
        400,
        {
            "error": "Trying to keep the first 4097 tokens when context the overflows. However, the model "
            "is loaded with context length of only 4096 tokens."
        },
        K.CONTEXT_OVERFLOW,
    ),
    (
        "lmstudio",
        400,
        {"error": "The number of tokens to keep from the initial prompt is greater than the context length."},
        K.CONTEXT_OVERFLOW,
    ),
    (
        "lmstudio",
        400,
        openai("No models loaded. Please load a model in the developer page.", None, "invalid_request_error"),
        K.MODEL_NOT_FOUND,
    ),
    (
        "vllm",
        400,
        {
            "object": "error",
            "message": "This model's maximum context length is 4096 tokens.",
            "type": "BadRequestError",
            "code": 400,
        },
        K.CONTEXT_OVERFLOW,
    ),
    (
        "vllm",
        404,
        {"object": "error", "message": "The model `x` does not exist.", "type": "NotFoundError", "code": 404},
        K.MODEL_NOT_FOUND,
    ),
    ("vllm", 401, {"error": "Unauthorized"}, K.AUTH),
    (
        "vllm",
        400,
        {
            "object": "error",
            "message": '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
            "code": 400,
        },
        K.FORMAT,
    ),
    (
        "litellm",
        400,
        openai("Budget has been exceeded! Current cost: 1.0, Max budget: 0.5", "400", "budget_exceeded"),
        K.BILLING,
    ),
    (
        "litellm",
        400,
        openai("litellm.ContextWindowExceededError: litellm.BadRequestError: too much", "400"),
        K.CONTEXT_OVERFLOW,
    ),
    (
        "litellm",
        429,
        openai("litellm.RateLimitError: No deployments available for selected model", "429", "throttling_error"),
        K.RATE_LIMIT,
    ),
    (
        "litellm",
        400,
        openai("Invalid model name passed in model=x. Call `/v1/models` to view available models.", "400"),
        K.MODEL_NOT_FOUND,
    ),
    ("litellm", 401, openai("Authentication Error, Invalid proxy server token passed.", "401", "auth_error"), K.AUTH),
]
"""(provider, status, body, kind)"""
