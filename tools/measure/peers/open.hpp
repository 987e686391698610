#pragma once
// Each peer's file defines a function that opens it, for PeerKind::open. GPU peers require a
// backend for which gpu_of() is not null.

#include <memory>
#include <string>

#include "tools/measure/peers/peer.hpp"

namespace rung {

std::unique_ptr<Peer> open_openblas(std::string& why_not);
std::unique_ptr<Peer> open_blis(std::string& why_not);
std::unique_ptr<Peer> open_aocl(std::string& why_not);
std::unique_ptr<Peer> open_onednn(std::string& why_not);
std::unique_ptr<Peer> open_mkl(std::string& why_not);

std::unique_ptr<Peer> open_cublas(const Backend& backend, std::string& why_not);
std::unique_ptr<Peer> open_cublaslt(const Backend& backend, std::string& why_not);
std::unique_ptr<Peer> open_cub(const Backend& backend, std::string& why_not);

}  // namespace rung
